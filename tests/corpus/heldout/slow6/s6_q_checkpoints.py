"""Four ranks by recursive doubling over TCP; each 50 steps rank 0 writes a checkpoint for some seconds."""
import os

import kit6


def save(step):
    with open("step.ckpt", "wb") as f:
        for _ in range(12):
            f.write(bytes(2 << 20))
            f.flush()
            os.fsync(f.fileno())
            kit6.disk(0.4)
    print("saved checkpoint at step %d" % step, flush=True)


def train(rank, world, port):
    group, laps, step, total = kit6.Butterfly(rank, world, port), kit6.Laps(rank), 0, 0
    while total < kit6.STOP:
        kit6.disk(0.4)
        kit6.work(0.05)
        if rank == 0 and step % 50 == 49:
            save(step)
        laps.mine()
        total = group.reduce(kit6.vote(rank, 180))
        laps.done()
        step += 1
        if rank == 0:
            print("iteration %d, loss=%.4f" % (step, 3.3 / (1 + step / 90)), flush=True)


kit6.ranks(4, train, "slurm")
