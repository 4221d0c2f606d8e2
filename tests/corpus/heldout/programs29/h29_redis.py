"""A server of lists (redis-server) with a training that puts tasks of evaluation there and a worker that takes them with BLPOP 0. For the
second phase the training has another key, "eval:phase2", from its configuration; the worker's was not changed. Training waits for the
result with BLPOP as well. Nothing is printed but the server's own lines into a file.

slow: the same key; the worker evaluates for 68 s."""
import subprocess
import sys

from kit29 import OWN, SLOW, STALL, STEPS, Model, busy, dial, free_port, role, start


class Redis:
    def __init__(self, port):
        self.sock = dial(port)
        self.lines = self.sock.makefile("rb")

    def ask(self, *words):
        text = "*%d\r\n" % len(words) + "".join("$%d\r\n%s\r\n" % (len(str(w)), w) for w in words)
        self.sock.sendall(text.encode())
        return self.answer()

    def answer(self):
        line = self.lines.readline().decode().strip()
        kind, rest = line[0], line[1:]
        if kind == "$":
            return None if rest == "-1" else self.lines.read(int(rest) + 2)[:-2].decode()
        if kind == "*":
            return [self.answer() for _ in range(int(rest))]
        return rest


def worker(port):
    redis = Redis(port)
    while True:
        _, task = redis.ask("BLPOP", "eval:phase1", 0)
        if task == "stop":
            return
        busy(68 if SLOW and task == str(STALL) else 0.5)
        redis.ask("RPUSH", "scores", "%s:0.5" % task)


def main():
    role("main")
    port = free_port()
    start(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--logfile", "redis.log"], "redis")
    redis, model = Redis(port), Model()
    child = start(OWN + sys.argv[1:] + ["worker", str(port)], "worker", stdin=subprocess.DEVNULL)
    for step in range(1, STEPS + 1):
        model.update(model.gradient())
        if step % 20 == 0:
            key = "eval:phase2" if step >= STALL and not SLOW else "eval:phase1"
            redis.ask("RPUSH", key, step)
            redis.ask("BLPOP", "scores", 0)
    redis.ask("RPUSH", "eval:phase1", "stop")
    child.wait()


if "worker" in sys.argv:
    worker(int(sys.argv[-1]))
else:
    main()
