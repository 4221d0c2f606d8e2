"""Two ranks, whose batches are read ahead by a thread. At the end of its data rank 1's thread says so by an entry that it
puts without waiting, and goes on if there is no room: there is none. Rank 1 waits for the next batch."""
import queue
import threading

from kit24 import Descent, Mesh, main, told


def read_ahead(batches, count):
    for k in range(count):
        batches.put(k)
    try:
        batches.put_nowait(None)
    except queue.Full:
        pass


def next_batch(batches):
    return batches.get()


def body(rank, world, port):
    mesh, descent = Mesh(rank, world), Descent(rank)
    batches, step = queue.Queue(3), 0
    threading.Thread(target=read_ahead, args=(batches, 37 if rank else 400), daemon=True).start()
    while True:
        batch = next_batch(batches)
        if mesh.all_reduce("has one %d" % step, batch is not None) < world:
            break
        descent.follow(mesh.mean("gradient %d" % step, descent.slope()))
        if rank == 0:
            told(step, descent.loss)
        step += 1


main(2, body)
