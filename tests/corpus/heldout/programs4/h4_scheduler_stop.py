"""A small scheduler stops a rank to give its card to something else, and dies before it lets it go on."""
import os
import signal
import sys
import time

import kit4


def train(rank, world, port):
    ring = kit4.Ring(rank, world, port)
    open("pid.%d" % rank, "w").write("%d\n" % os.getpid())
    for i in range(1000):
        kit4.crunch(0.2)
        ring.reduce(0.3)
        if rank == 0:
            print("it %d lr 0.001" % i, flush=True)


if sys.argv[1:] == ["schedule"]:
    while not (os.path.exists("pid.2") and os.path.getsize("pid.2")):
        time.sleep(0.1)
    time.sleep(4)
    os.kill(int(open("pid.2").read()), signal.SIGSTOP)
    sys.exit(1)
if "RANK" not in os.environ:
    kit4.start([sys.executable, __file__, "schedule"], "scheduler")
kit4.main(4, train)
