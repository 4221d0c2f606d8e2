"""Loader processes with queues of indices; one of them has trouble. Args: kind of trouble, services."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import multiprocessing as mp
import signal
import subprocess

KIND, SRV = sys.argv[1], int(sys.argv[2])


class Decoder:
    def __init__(self, name):
        self.p = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=kit.die_with_parent)
        kit.role(name, self.p.pid)

    def __call__(self, x):
        self.p.stdin.write(b"%d\n" % x)
        self.p.stdin.flush()
        return self.p.stdout.readline()


def fetch_loop(k, inq, out):
    kit.die_with_parent()
    kit.role("loader%d" % k)
    dec = Decoder("decoder%d" % k)
    n = 0
    while True:
        j = inq.get()
        n += 1
        if n == 5 and KIND == "decoder" and k == 3:
            dec.p.send_signal(signal.SIGSTOP)
        if n == 5 and KIND == "gone" and k == 1:
            dec.p.kill()
            os.kill(os.getpid(), signal.SIGKILL)
        out.put((j, dec(j)))


class Loader:
    def __init__(self, n):
        ctx = mp.get_context("fork")
        self.inqs = [ctx.Queue() for _ in range(n)]
        self.out = ctx.Queue()
        self.have, self.sent = {}, 0
        self.ws = [ctx.Process(target=fetch_loop, args=(k, q, self.out), daemon=True) for k, q in enumerate(self.inqs)]
        [w.start() for w in self.ws]
        for _ in range(2 * n):
            self.ask()

    def ask(self):
        self.inqs[self.sent % len(self.inqs)].put(self.sent)
        self.sent += 1

    def __iter__(self):
        want = 0
        while True:
            while want not in self.have:
                j, x = self.out.get()
                self.have[j] = x
            self.ask()
            yield self.have.pop(want)
            want += 1


if __name__ == "__main__":
    kit.role("main")
    it = iter(Loader(4))
    if SRV:
        kit.services(SRV)
    for i, batch in enumerate(it):
        kit.work(0.3)
        kit.step(i)
