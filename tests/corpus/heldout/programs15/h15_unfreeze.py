"""Three forked ranks add up buckets in shared memory, with a Barrier before and after. Rank 2 has unfrozen one
layer more from step 40 on, and adds one bucket more in a step than the others; they have all their steps sooner
and leave, rank 2 stays at the Barrier."""
import multiprocessing

from kit15 import crunch, main, told

fork = multiprocessing.get_context("fork")
gate, total = fork.Barrier(3), fork.Array("d", 8)


def reduce(bucket, x):
    with total.get_lock():
        total[bucket] += x
    gate.wait()


def body(rank, world, port):
    for step in range(90):
        crunch(0.12)
        for bucket in range(4 if rank == 2 and step >= 40 else 3):
            reduce(bucket, 1.0)
        if rank == 0:
            told(step)
    print("rank %d finished" % rank, flush=True)


main(3, body, "fork")
