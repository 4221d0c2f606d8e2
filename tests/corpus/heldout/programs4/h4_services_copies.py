"""A rank with a heartbeat, a metrics thread and a forked monitor that has copies of all its descriptors. Rank 1's queue is never filled again."""
import os
import queue
import threading
import time

import kit4


def heartbeat(rank):
    while True:
        with open("heartbeat.%d" % rank, "w") as f:
            f.write("%f\n" % time.time())
        time.sleep(1)


def monitor(rank):
    if os.fork() == 0:
        kit4.with_parent()
        kit4.role("monitor%d" % rank)
        while True:
            os.getloadavg()
            time.sleep(2)


def train(rank, world, port):
    hub, q = kit4.Hub(rank, world, port), queue.Queue(8)
    monitor(rank)
    threading.Thread(target=heartbeat, args=(rank,), daemon=True, name="heartbeat").start()

    def load():
        for k in range(16 if rank == 1 else 100000):
            q.put(bytes(1000))
    threading.Thread(target=load, name="load", daemon=True).start()
    for i in range(1000):
        batch = q.get()
        kit4.crunch(0.2)
        hub.reduce(len(batch))
        if rank == 0:
            print("step %d" % i, flush=True)


kit4.main(4, train)
