"""A chain of stages 0 <- 1 <- 2; stage 2 wants a record lock of a process that is paused."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import fcntl
import signal
import tempfile
import time

r = kit.rank()


def before(env):
    path = env["IDX"] = tempfile.mkdtemp() + "/idx"
    if os.fork() == 0:
        kit.die_with_parent()
        kit.role("syncer")
        f = open(path, "w")
        for i in range(10 ** 6):
            time.sleep(0.5)
            fcntl.lockf(f, fcntl.LOCK_EX)
            if i == 10:
                os.kill(os.getpid(), signal.SIGSTOP)
            fcntl.lockf(f, fcntl.LOCK_UN)


def run():
    m = kit.Mesh()
    kit.services(1)
    while not os.path.exists(os.environ["IDX"]):
        time.sleep(0.05)
    f = open(os.environ["IDX"], "r+")
    for i in range(1000):
        if r == 2:
            kit.work(0.3)
            fcntl.lockf(f, fcntl.LOCK_EX)
            fcntl.lockf(f, fcntl.LOCK_UN)
            kit.put(m.to[1], i)
        elif r == 1:
            kit.put(m.to[0], kit.take(m.to[2]))
        else:
            kit.take(m.to[1])
            kit.step(i)


kit.go(3, run, mesh=True, before=before)
