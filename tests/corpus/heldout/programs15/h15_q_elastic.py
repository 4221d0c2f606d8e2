"""Three forked ranks meet at a Barrier with a time limit of 45 s. Rank 2 has nothing more to do and has left; the
others wait for it, the Barrier breaks, they make one of two and go on."""
import multiprocessing
import threading

from kit15 import crunch, main, told

fork = multiprocessing.get_context("fork")
three, two = fork.Barrier(3), fork.Barrier(2)


def body(rank, world, port):
    gate = three
    for step in range(85):
        crunch(0.12)
        if (rank, step) == (2, 55):
            return
        try:
            gate.wait(45)
        except threading.BrokenBarrierError:
            print("rank %d: a rank is missing, going on with two" % rank, flush=True)
            gate = two
        if rank == 0:
            told(step)


main(3, body, "fork")
