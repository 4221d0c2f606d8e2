"""At the epoch's end rank 2 joins its thread of augmentation, which waits for a sentinel that comes after the join."""
import queue
import threading

import kit4


def augment(inbox, outbox):
    while True:
        x = inbox.get()
        if x is None:
            return
        outbox.put(x * 2)


def train(rank, world, port):
    hub = kit4.Hub(rank, world, port)
    for epoch in range(10):
        inbox, outbox = queue.Queue(), queue.Queue()
        t = threading.Thread(target=augment, args=(inbox, outbox))
        t.start()
        for i in range(6):
            inbox.put(i)
            kit4.crunch(0.15)
            hub.reduce(outbox.get())
            if rank == 0:
                print("epoch %d it %d" % (epoch, i), flush=True)
        if rank == 2 and epoch == 2:
            t.join()
        inbox.put(None)
        t.join()


kit4.main(4, train)
