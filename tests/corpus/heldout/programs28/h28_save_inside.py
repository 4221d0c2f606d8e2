"""Three ranks around rank 0. `if rank == 0: save_checkpoint()`, and a new version of save_checkpoint begins with a barrier
"so that all are at the same step". The others go on to their next gradient. Prints nothing.

slow: no barrier in it, the checkpoint takes 70 s."""
import os
import time

from kit28 import SLOW, STALL, STEPS, Star, compute, main


def save_checkpoint(star, step):
    if not SLOW:
        star.barrier("before checkpoint %d" % step)
    with open("ckpt-%d.tmp" % step, "wb") as f:
        for _ in range(70 if SLOW else 1):
            f.write(os.urandom(8192))
            f.flush()
            os.fsync(f.fileno())
            time.sleep(1)
    os.rename("ckpt-%d.tmp" % step, "ckpt-%d.pt" % step)


def body(rank, world, port):
    star = Star(rank, world)
    for step in range(STEPS):
        compute()
        star.mean("grad/%d" % step, 0.5)
        if rank == 0 and step == STALL:
            save_checkpoint(star, step)


main(3, body)
