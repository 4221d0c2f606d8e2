"""Three forked ranks with counters in shared memory. Rank 0 has one evaluation batch more; the others have finished and left."""
import mmap
import struct
import time

import kit7

arrived = mmap.mmap(-1, 4096)


def meet(rank, world, turn):
    struct.pack_into("q", arrived, 8 * rank, turn)
    while any(struct.unpack_from("q", arrived, 8 * r)[0] < turn for r in range(world)):
        time.sleep(0.005)


def train(rank, world, port):
    batches = 24 if rank == 0 else 23
    for k in range(batches):
        kit7.crunch(0.2)
        if rank == 0:
            print("eval %d/%d  acc@1 %.2f" % (k + 1, batches, 60 + k / 4), flush=True)
        meet(rank, world, k + 1)


kit7.ranks(3, train, "fork")
