"""Three trainers of multiprocessing meet at a Barrier after each batch. The shard of trainer 2 has fewer
batches: it has come to its end and left with 0, the others wait for it."""
import multiprocessing
import time

from kit14 import crunch, role, told, with_parent


def train(rank, sizes, barrier, losses):
    with_parent()
    role("rank%d" % rank)
    for step in range(sizes[rank]):
        crunch(0.13)
        losses[rank] = 1.0 / (step + 1)
        barrier.wait()
        if rank == 0:
            told(step)
    time.sleep(0.1)


if __name__ == "__main__":
    role("launcher")
    context = multiprocessing.get_context("fork")
    files = 218
    shards = [(files + 2 - r) // 3 for r in range(3)]
    barrier, losses = context.Barrier(3), context.Array("d", 3)
    every = [context.Process(target=train, args=(r, shards, barrier, losses), name="trainer-%d" % r) for r in range(3)]
    for p in every:
        p.start()
    for p in every:
        p.join()
    print("trained", flush=True)
