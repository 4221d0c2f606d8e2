"""A guard stops the trainer while a device is too warm, for 60 s, and lets it go on."""
import os
import signal
import sys
import time

import kit9


def guard(pid):
    time.sleep(5)
    os.kill(pid, signal.SIGSTOP)
    time.sleep(60)
    os.kill(pid, signal.SIGCONT)


if sys.argv[1:2] == ["guard"]:
    guard(int(sys.argv[2]))
    sys.exit(0)
kit9.role("main")
kit9.start([sys.executable, sys.argv[0], "guard", str(os.getpid())], "guard")
for s in range(50):
    kit9.crunch(0.2)
    kit9.step(0, s, 50)
