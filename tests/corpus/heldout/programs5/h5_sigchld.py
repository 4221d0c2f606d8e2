"""Rank 0 reaps children in a handler of SIGCHLD with os.wait(); the one it was called for is reaped already, so it waits for the cache server."""
import os
import signal
import subprocess
import sys

import kit5


def reap(*_):
    pid, status = os.wait()
    open("children.log", "a").write("child %d: %d\n" % (pid, status))


def train(rank, world, port):
    group = kit5.Butterfly(rank, world, port)
    if rank == 0:
        kit5.start([sys.executable, "-c", "import socket; s = socket.socket(); s.listen(); s.accept()"], "cacheserver")
        signal.signal(signal.SIGCHLD, reap)
    for step in range(1000):
        kit5.crunch(0.2)
        group.reduce(1)
        if rank == 1:
            print("step", step, flush=True)
        if rank == 0 and step == 10:
            with open("commit.txt", "w") as out:
                signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
                pid = os.posix_spawn("/bin/sh", ["sh", "-c", "echo unknown"], os.environ, setsigmask=[],
                                     file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)])
                os.waitpid(pid, 0)
                signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])


kit5.ranks(2, train)
