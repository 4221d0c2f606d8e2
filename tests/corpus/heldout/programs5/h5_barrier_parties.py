"""Spawned ranks meet at a multiprocessing.Barrier made for one more than there are."""
import multiprocessing as mp
import os

import kit5


def train(rank, n, barrier):
    kit5.with_parent()
    kit5.role("rank%d" % rank)
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(n))
    kit5.crunch(1 + rank * 0.5)
    print("rank %d has loaded its shard" % rank, flush=True)
    barrier.wait()
    print("rank %d trains" % rank, flush=True)


def main():
    kit5.role("launcher")
    context = mp.get_context("spawn")
    n = 3
    barrier = context.Barrier(n + 1)  # with the launcher, which used to wait as well
    procs = [context.Process(target=train, args=(r, n, barrier)) for r in range(n)]
    for p in procs:
        p.start()
    for p in procs:
        p.join()


if __name__ == "__main__":
    main()
