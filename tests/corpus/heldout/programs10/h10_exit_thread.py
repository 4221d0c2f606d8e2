"""Rank 1 alone reports to a metrics queue by a thread that is no daemon. The ranks are done, all but rank 1 end, whose interpreter
waits for that thread, which waits for the next value."""
import queue
import threading

import kit10

values = queue.Queue()


def reporter():
    with open("metrics.csv", "w") as f:
        while True:
            f.write("%f\n" % values.get())
            f.flush()


def body(rank, n, port):
    if rank == 1:
        threading.Thread(target=reporter, name="reporter").start()
    hub = kit10.Hub(rank, n, port)
    for s in range(15):
        kit10.crunch(0.1)
        loss = hub.reduce(0.3)
        if rank == 1:
            values.put(loss)
        kit10.log(rank, s, loss=loss)
    kit10.log(rank, 15, state="finished")


kit10.ranks(3, body, "ompi")
