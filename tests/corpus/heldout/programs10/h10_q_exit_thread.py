"""The ranks are done; a thread of rank 1, which is no daemon, still sends what it has of metrics, for a minute."""
import queue
import threading
import time

import kit10

values = queue.Queue()


def reporter():
    while (v := values.get()) is not None:
        time.sleep(1.2)


def body(rank, n, port):
    if rank == 1:
        threading.Thread(target=reporter, name="reporter").start()
    hub = kit10.Hub(rank, n, port)
    for s in range(52):
        kit10.crunch(0.1)
        loss = hub.reduce(0.3)
        if rank == 1:
            values.put(loss)
        kit10.log(rank, s, loss=loss)
    if rank == 1:
        values.put(None)


kit10.ranks(3, body, "ompi")
