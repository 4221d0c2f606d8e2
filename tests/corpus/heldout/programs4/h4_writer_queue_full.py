"""Rank 0 hands images to a writing thread by a queue of four; the thread ended when its disk was full."""
import queue
import threading

import kit4


def writer(q):
    written = 0
    try:
        while True:
            image = q.get()
            written += len(image)
            if written > 600_000:
                raise OSError(28, "No space left on device")
    except OSError as e:
        open("writer.err", "w").write(str(e))


def train(rank, world, port):
    hub, q = kit4.Hub(rank, world, port), queue.Queue(4)
    if rank == 0:
        threading.Thread(target=writer, args=(q,), name="image-writer").start()
    for i in range(500):
        kit4.crunch(0.2)
        hub.reduce(0.1)
        if rank == 0:
            q.put(bytes(50_000))
            print("epoch 0 step %d" % i, flush=True)


kit4.main(3, train, "fork")
