"""Rank 1 waits at the epoch's end for its queue to be worked off; broken rows are skipped without task_done."""
import queue
import threading

import kit4


def loop(q):
    while True:
        row = q.get()
        if row == 77:
            continue
        q.task_done()


def train(rank, world, port):
    ring, q = kit4.Ring(rank, world, port), queue.Queue()
    threading.Thread(target=loop, args=(q,), daemon=True).start()
    for epoch in range(20):
        for i in range(5):
            for k in range(5):
                q.put(epoch * 25 + i * 5 + k if rank == 1 else 0)
            kit4.crunch(0.15)
            ring.reduce(1.0)
        q.join()
        ring.reduce(0.0)
        print("[%d] epoch %d" % (rank, epoch), flush=True)


kit4.main(3, train)
