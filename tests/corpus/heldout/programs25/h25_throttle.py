"""Three ranks. A script that keeps a device cool stops rank 2 by SIGSTOP now and then, for a second, and goes on with
SIGCONT. It ends by an error of its own between both.

slow: it does not, it gives 66 s to cool."""
import os
import signal
import sys
import time

from kit25 import OWN, SLOW, STEPS, Log, Model, Star, main, start


def throttle(pid):
    for turn in range(1000):
        time.sleep(6)
        os.kill(pid, signal.SIGSTOP)
        if turn == 3 and not SLOW:
            time.sleep(1)
            sys.exit("throttle: cannot read temperature")
        time.sleep(66 if turn == 3 else 1)
        os.kill(pid, signal.SIGCONT)
        if turn == 3:
            return


def body(rank, world, port):
    star, model, log = Star(rank, world), Model(rank), Log("json")
    if rank == 2:
        start(OWN + ["throttle", str(os.getpid())] + sys.argv[1:], "throttle")
    for step in range(STEPS):
        model.step(star.mean("gradient %d" % step, model.backward()))
        if rank == 0:
            log(step, model.loss)


if "throttle" in sys.argv:
    throttle(int(sys.argv[2]))
else:
    main(3, body)
