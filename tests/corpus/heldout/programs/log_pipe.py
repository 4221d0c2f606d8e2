"""All ranks write their lines to a collector by a pipe; the collector is paused."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import signal
import time

PAUSE_AT = 60


def before(env):
    rd, wr = os.pipe()
    os.set_inheritable(wr, True)
    env["SINK"] = str(wr)
    if os.fork() == 0:
        kit.die_with_parent()
        kit.role("collector")
        os.close(wr)
        n = 0
        with os.fdopen(rd) as f:
            for line in f:
                n += 1
                if line.startswith("row"):
                    continue
                print(line.rstrip(), flush=True)
                if n > PAUSE_AT:
                    os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
    os.close(rd)


def emit(fd, text):
    os.write(fd, text)


def run():
    fd = int(os.environ["SINK"])
    comm = kit.Star()
    for i in range(1000):
        kit.work(0.25)
        comm.all_reduce(1)
        emit(fd, b"[rank%d] step %d loss %.3f\n" % (kit.rank(), i, 1.0 / (i + 1)))
        if i > 10:
            emit(fd, (b"row" + b"z" * 900 + b"\n") * 4)


kit.go(3, run, before=before, mesh=True)
