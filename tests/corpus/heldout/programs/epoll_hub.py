"""Rank 0 waits with epoll; rank 3 wants a file lock that its cleaner has, and the cleaner is paused."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import fcntl
import select
import signal
import tempfile
import time

r = kit.rank()


def janitor(path):
    pid = os.fork()
    if pid == 0:
        kit.die_with_parent()
        kit.role("janitor3")
        with open(path, "w") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            os.kill(os.getpid(), signal.SIGSTOP)
            time.sleep(1)
        os._exit(0)
    return pid


def touch_index(path):
    with open(path, "a") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        f.write("x")


def hub(n):
    s = kit.bind(kit.port())
    ep = select.epoll()
    cs = {}
    while len(cs) < n - 1:
        c, _ = s.accept()
        cs[c.fileno()] = c
        ep.register(c, select.EPOLLIN)
    for i in range(1000):
        todo = set(cs)
        while todo:
            for fd, _ in ep.poll():
                kit.take(cs[fd])
                todo.discard(fd)
        for c in cs.values():
            kit.put(c, i)
        kit.step(i)


def leaf():
    path = tempfile.mkdtemp() + "/index"
    s = kit.dial(kit.port())
    for i in range(1000):
        kit.work(0.3)
        if i == 14 and r == 3:
            janitor(path)
            time.sleep(0.5)
        touch_index(path)
        kit.put(s, r)
        kit.take(s)


def run():
    kit.services(3)
    hub(kit.world()) if r == 0 else leaf()


kit.go(4, run)
