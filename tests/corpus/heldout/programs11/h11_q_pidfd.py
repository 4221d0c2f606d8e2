"""The trainer closes the pipe to its compactor and waits for its end by a pidfd; the compactor sorts for 52 s."""
import os
import subprocess
import sys
import time

from kit11 import crunch, job, role, start

if job()[0] == "compactor":
    total = sum(len(line) for line in sys.stdin)
    time.sleep(52)
    print("compacted %d bytes" % total, flush=True)
else:
    role("main")
    p = start([sys.executable, sys.argv[0], "compactor"], "compactor", stdin=subprocess.PIPE, text=True)
    fd = os.pidfd_open(p.pid)
    for step in range(30):
        crunch(0.2)
        p.stdin.write("sample %d\n" % step)
        print("wrote sample", step, flush=True)
    p.stdin.close()
    os.waitid(os.P_PIDFD, fd, os.WEXITED)
    print("done", flush=True)
