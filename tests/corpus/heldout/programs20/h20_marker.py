"""Three ranks meet behind an epoch by files: each makes its own and looks until all three are there; rank 0 then takes
them away. Rank 2 looks twice a second only. At first rank 0 saves before it takes them away; in the fourth epoch there
is nothing to save, and rank 2 finds none of them any more.

slow: rank 2 comes to the fourth meeting 48 s late, and rank 0 always saves."""
import os
import time

from kit20 import SLOW, STEPS, Line, busy, crunch, main, once, told


def meet(rank, world, epoch):
    names = ["done-%d.%d" % (epoch, r) for r in range(world)]
    once(names[rank])
    while not all(os.path.exists(n) for n in names):
        time.sleep(0.6 if rank == 2 else 0.02)
    if rank == 0:
        if SLOW or epoch != 4:
            crunch(1)
        for name in names:
            os.unlink(name)


def body(rank, world, port):
    line = Line(rank, world, port)
    for step in range(STEPS):
        crunch(0.1)
        line.sum(0.4)
        if rank == 0:
            told(step)
        if step % 10 == 9:
            epoch = step // 10 + 1
            if rank == 1:
                time.sleep(0.3)  # it is the last one to come
            if SLOW and rank == 2 and epoch == 4:
                busy(48)
            meet(rank, world, epoch)


main(3, body)
