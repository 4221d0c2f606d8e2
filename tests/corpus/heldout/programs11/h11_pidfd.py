"""Samples go to a compactor by its standard input. After the last one the trainer waits for its end by a pidfd, and has not closed the pipe: the compactor waits for
more."""
import os
import subprocess
import sys

from kit11 import crunch, job, role, start


def compactor():
    total = 0
    for line in sys.stdin:
        total += len(line)
    print("compacted %d bytes" % total, flush=True)


if job()[0] == "compactor":
    compactor()
else:
    role("main")
    p = start([sys.executable, sys.argv[0], "compactor"], "compactor", stdin=subprocess.PIPE, text=True)
    fd = os.pidfd_open(p.pid)
    for step in range(30):
        crunch(0.2)
        p.stdin.write("sample %d\n" % step)
        p.stdin.flush()
        print("wrote sample", step, flush=True)
    os.waitid(os.P_PIDFD, fd, os.WEXITED)
    print("done", flush=True)
