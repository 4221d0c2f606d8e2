"""Two forked ranks over unix sockets, each with a thread that prepares batches. Rank 1's thread comes to a line that it cannot
read and fails; its traceback is printed, the queue has no batch any more, and the training waits at it.

slow: the thread reads that line after 48 s of trying."""
import queue
import threading

from kit22 import SLOW, STEPS, Mesh, Model, busy, crunch, main


def parse(line):
    x, y = line.split(",")
    return float(x), float(y)


def prepare(rank, batches):
    n = 0
    while True:
        lines = ["%.2f,%.2f" % (x / 16, 3 * x / 16 + 1) for x in range(n % 7, n % 7 + 16)]
        if rank == 1 and n == 35:
            if SLOW:
                busy(48)
            else:
                lines[4] = "0.25;1.75"
        crunch(0.1)
        batches.put([parse(line) for line in lines])
        n += 1


def next_batch(batches):
    return batches.get()


def body(rank, world, port):
    mesh, model, batches = Mesh(rank, world), Model(rank), queue.Queue(4)
    threading.Thread(target=prepare, args=(rank, batches), daemon=True, name="prefetch").start()
    for step in range(STEPS):
        model.apply(mesh.all_reduce("gradient %d" % step, model.gradient(next_batch(batches))), 0.01)
        if rank == 0:
            model.told(step)


main(2, body, "fork")
