"""Two stages of a pipeline, forked, with a Pipe. In the last, shorter, batch the first stage sends two
micro-batches before it takes gradients, as always; the second is told "3 of warm-up" and wants a third one
before it gives the first gradient."""
import multiprocessing

from kit15 import crunch, main, told

left, right = multiprocessing.Pipe()
MICRO = 6


def first(step):
    for m in range(2):
        left.send(("activations", step, m))
    for m in range(2, MICRO + 2):
        crunch(0.02)
        left.recv()
        if m < MICRO:
            left.send(("activations", step, m))


def second(step):
    kept, warm = [], 3 if step == 60 else 2
    for _ in range(MICRO):
        while len(kept) < warm and (not kept or kept[-1][2] < MICRO - 1):
            kept.append(right.recv())
        crunch(0.02)
        right.send(("gradients", step, kept.pop(0)[2]))


def body(rank, world, port):
    for step in range(200):
        if rank == 0:
            first(step)
            told(step)
        else:
            second(step)


main(2, body, "fork")
