"""A training draws its bar at a terminal that a program like screen keeps, which writes what it reads to a log. The log's
file is locked by a job that packs logs, and which waits for the training to end.

slow: the job packs for 70 s, and waits for nobody."""
import fcntl
import os
import pty
import sys
import time

from kit25 import OWN, SLOW, STEPS, Log, Model, busy, role, start


def screen(fd):
    log = open("screen.log", "wb")
    while True:
        try:
            data = os.read(fd, 4096)
        except OSError:
            return
        fcntl.flock(log, fcntl.LOCK_EX)
        log.write(data)
        fcntl.flock(log, fcntl.LOCK_UN)


def pack(pid):
    log = open("screen.log", "ab")
    time.sleep(20)
    fcntl.flock(log, fcntl.LOCK_EX)
    if SLOW:
        return busy(70)
    while os.path.exists("/proc/%d" % pid):
        time.sleep(2)


def train():
    role("main")
    ours, theirs = pty.openpty()
    start(OWN + ["screen", str(ours)], "screen", pass_fds=[ours])
    start(OWN + ["pack", str(os.getpid())] + sys.argv[1:], "packer")
    os.close(ours)
    bar, model, log = open(theirs, "w", buffering=1), Model(), Log("json")
    for step in range(STEPS):
        model.step(model.backward())
        bar.write("\rtrain: %d%% %s\n" % (step, "#" * 4000))
        log(step, model.loss)


if "screen" in sys.argv:
    screen(int(sys.argv[2]))
elif "pack" in sys.argv:
    pack(int(sys.argv[2]))
else:
    train()
