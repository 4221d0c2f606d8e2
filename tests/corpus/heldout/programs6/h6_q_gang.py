"""Two jobs of one scheduler share a device: it stops the second for 63 s while the first computes, and then continues it."""
import os
import signal
import sys
import time

import kit6


def work(name):
    for n in range(10):
        kit6.crunch(0.2)
        print(name, "turn", n, flush=True)


def first():
    kit6.compute(60)


if sys.argv[1:]:
    work("second")
else:
    kit6.role("scheduler")
    second = kit6.start([sys.executable, __file__, "second"], "second")
    time.sleep(1.5)
    os.kill(second.pid, signal.SIGSTOP)
    end, child = time.time() + 63, os.fork()
    if child == 0:
        kit6.with_parent()
        kit6.role("first")
        first()
        os._exit(0)
    time.sleep(max(0, end - time.time()))
    os.waitpid(child, 0)
    os.kill(second.pid, signal.SIGCONT)
    second.wait()
