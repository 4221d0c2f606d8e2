"""Three ranks, each with a thread that reads ahead into a queue. Rank 1's main thread fails by an error at a sample. Its
reading thread is no daemon and waits for a place in the full queue, so the process stays; the others wait for it."""
import queue
import threading

from kit21 import STEPS, Hub, crunch, main, told

LABELS = {0: "cat", 1: "dog"}


def read_ahead(ahead, rank):
    for k in range(STEPS * 2):
        ahead.put(7 if rank == 1 and k == 40 else k % 2)


def collate(sample):
    return LABELS[sample]


def body(rank, world, port):
    hub, ahead = Hub(rank, world), queue.Queue(4)
    threading.Thread(target=read_ahead, args=(ahead, rank), name="reader").start()
    for step in range(STEPS):
        collate(ahead.get())
        crunch(0.2)
        hub.mean("grad%d" % step, 0.4)
        if rank == 0:
            told(step)


main(3, body)
