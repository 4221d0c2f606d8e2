"""Two ranks. Rank 1 looks through samples for hard ones; they come from a generator with a pool of one thread that reads
ahead into a queue of four. When it has enough it leaves the loop: the generator is closed, and waits for its thread,
which waits for room in the queue.

slow: the queue has room for all, and the thread writes an index for 70 s before it ends."""
import concurrent.futures
import queue

from kit24 import SLOW, STEPS, Descent, Mesh, busy, crunch, main, told


def read_ahead(rows, count):
    for k in range(count):
        rows.put(k)
    rows.put(None)
    if SLOW and count == 80:
        busy(70)


def samples(count):
    rows = queue.Queue(0 if SLOW else 4)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(read_ahead, rows, count)
        while (row := rows.get()) is not None:
            yield row


def hard_ones(count, wanted):
    found = []
    for row in samples(count):
        if row % 3 == 0:
            found.append(row)
        if len(found) == wanted:
            break
    return found


def body(rank, world, port):
    mesh, descent = Mesh(rank, world, tcp=True), Descent(rank)
    for step in range(STEPS):
        if rank == 1 and step % 8 == 0:
            hard_ones(80 if step == 32 else 6, 10)
            crunch(0.05)
        descent.follow(mesh.mean("gradient %d" % step, descent.slope()))
        if rank == 0:
            told(step, descent.loss)


main(2, body, "fork")
