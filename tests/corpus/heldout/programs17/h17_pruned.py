"""Three ranks. Rank 0 writes a checkpoint every tenth step and keeps the two that come last by name: of ckpt-80,
ckpt-90 and ckpt-100 the last one comes first, and is removed as soon as it is there. Rank 2 looks for it, to evaluate
it; the others wait for rank 2 in the next sum.

slow: numbers have leading zeros, and rank 0 writes ckpt-00100 for 48 s while rank 2 looks for it."""
import glob
import os
import time

from kit17 import SLOW, Chain, busy, crunch, main, told


def name_of(step):
    return ("ckpt-%05d" if SLOW else "ckpt-%d") % step


def save(step):
    if SLOW and step == 100:
        busy(48)
    with open(name_of(step) + ".part", "w") as f:
        f.write("weights of step %d\n" % step)
    os.rename(name_of(step) + ".part", name_of(step))
    for old in sorted(glob.glob("ckpt-*"))[:-2]:
        os.unlink(old)


def evaluate(step):
    while not os.path.exists(name_of(step)):
        time.sleep(0.2)
    crunch(0.1)


def body(rank, world, port):
    chain = Chain(rank, world, port)
    for step in range(58, 130 if SLOW else 400):
        crunch(0.18)
        chain.mean("grad%d" % step, 0.3)
        if rank == 0:
            told(step)
        if step % 10 == 0:
            if rank == 0:
                save(step)
            elif rank == 2:
                evaluate(step)


main(3, body, "env")
