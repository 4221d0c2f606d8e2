"""Two ranks in a ring. Rank 0 saves a checkpoint and then its mark "ckpt-000080.ok", for which rank 1 looks once a second. From the fourth
one on rank 0 keeps three files of ckpt-* only: sorted the wrong way round, marks first. The new mark is gone before rank 1 looks.

slow: nothing is rotated, the fourth checkpoint takes 72 s."""
import glob

from kit29 import SLOW, STALL, STEPS, Model, Report, Ring, busy, main, os, time

EVERY = STALL // 4


def rotate(keep):
    files = sorted(glob.glob("ckpt-*"), key=lambda name: (name.endswith(".ok"), name), reverse=True)
    for name in files[:-keep] if keep else []:
        os.unlink(name)


def save(step, weight):
    if SLOW and step == STALL:
        busy(72)
    name = "ckpt-%06d" % step
    with open(name, "w") as f:
        f.write(repr(weight))
    open(name + ".ok", "w").close()
    if step >= STALL and not SLOW:
        rotate(keep=3)


def wait_for_mark(step):
    mark = "ckpt-%06d.ok" % step
    while not os.path.exists(mark):
        time.sleep(1)


def body(rank, world, port):
    ring, model, report = Ring(rank, world), Model(rank), Report("logging", rank)
    for step in range(1, STEPS + 1):
        model.update(ring.mean("gradient-%d" % step, model.gradient()))
        if rank == 0:
            report(step, model.loss())
        if step % EVERY == 0:
            if rank == 0:
                save(step, model.weight)
            else:
                time.sleep(0.2)
                wait_for_mark(step)
            ring.barrier("checkpoint %d" % step)


main(2, body)
