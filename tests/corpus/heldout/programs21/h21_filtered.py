"""Three ranks in a ring. Samples that are too long are left out while they are read, so the last batch of rank 2's
epoch never becomes full and is dropped. Rank 2 is at the end of the epoch, the others sum once more.

slow: rank 2 has long samples for the last batch and takes 48 s."""
from kit21 import SLOW, STEPS, Ring, Store, busy, crunch, main, told

LIMIT, EPOCH = 512, 40


def samples(rank):
    for k in range(EPOCH * 8):
        long = rank == 2 and k % 97 == 50 and not SLOW
        yield k, 700 if long else 300


def batches(rank):
    batch = []
    for k, length in samples(rank):
        if length > LIMIT:
            continue
        batch.append(k)
        if len(batch) == 8:
            yield batch
            batch = []


def epoch_end(store, world, epoch):
    store.arrive("epoch%d" % epoch, world)


def body(rank, world, port):
    ring, store, step = Ring(rank, world, port), Store(rank, port), 0
    for epoch in range(STEPS // EPOCH + 1):
        for batch in batches(rank):
            if SLOW and rank == 2 and step == 39:
                busy(48)
            crunch(0.2)
            ring.total(1.0 / len(batch))
            if rank == 0:
                told(step)
            step += 1
            if step == STEPS:
                return
        epoch_end(store, world, epoch)


main(3, body)
