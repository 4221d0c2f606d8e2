"""Two ranks. Rank 0 writes a checkpoint with the step in its name and waits at a barrier; rank 1 looks for the name that
an older version gave, until it is there, to load it as the mean of weights.

slow: rank 0 writes the right name, in parts, with a pause for each as to a slow storage, for 72 s."""
import os
import time

from kit25 import SLOW, STALL, STEPS, Log, Model, Star, main


def save(step):
    name = "epoch-%d" % (step // 25)
    if SLOW:
        with open(name + ".part", "wb") as f:
            for _ in range(72):
                f.write(b"w" * 65536)
                f.flush()
                os.fsync(f.fileno())
                time.sleep(1)
        os.rename(name + ".part", name + ".ckpt")
    else:
        with open(name + "-step-%d.ckpt" % step, "wb") as f:
            f.write(b"w" * 65536)


def wait_for_checkpoint(step):
    name = "epoch-%d.ckpt" % (step // 25)
    while not os.path.exists(name):
        time.sleep(0.5)
    with open(name, "rb") as f:
        return len(f.read())


def body(rank, world, port):
    star, model, log = Star(rank, world), Model(rank), Log("plain")
    for step in range(STEPS):
        model.step(star.mean("gradient %d" % step, model.backward()))
        if rank == 0:
            log(step, model.loss)
        if step == STALL:
            save(step) if rank == 0 else wait_for_checkpoint(step)
            star.barrier("saved %d" % step)


main(2, body)
