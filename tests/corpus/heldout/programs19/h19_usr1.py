"""Three ranks; the batch system's agent warns of the coming end by SIGUSR1, but only the one process that it knows,
which is rank 1. Rank 1 saves, and waits at the barrier behind a checkpoint for the others. They have heard nothing and
are in the next step's sum.

slow: rank 1 saves for 48 s by itself and goes on."""
import signal

from kit19 import SLOW, STEPS, Star, busy, crunch, main, start, told

warned = []


def save(star, step):
    if SLOW:
        return busy(48)
    crunch(0.3)
    star.mean("saved%d" % step, 1.0)


def train_step(star, step):
    crunch(0.2)
    star.mean("grad%d" % step, 0.4)


def body(rank, world, port):
    star = Star(rank, world, port)
    signal.signal(signal.SIGUSR1, lambda *_: warned.append(1))
    if rank == 1:
        start(["sh", "-c", "sleep 8; kill -USR1 $PPID"], "agent")
    for step in range(STEPS):
        train_step(star, step)
        if warned:
            warned.clear()
            save(star, step)
        if rank == 0:
            told(step)


main(3, body)
