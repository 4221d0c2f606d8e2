"""The scheduler tells that it will take the node by SIGUSR1, and the handler saves after a barrier of all
ranks. Only rank 1 got the signal: it is at the barrier, the others are in the next step's sum."""
import os
import signal
import time

from kit14 import Store, crunch, main, told


def body(rank, world, port):
    store = Store(rank, world, port)
    wanted = []
    signal.signal(signal.SIGUSR1, lambda *_: wanted.append(time.time()))

    def save(step):
        print("[rank %d] preemption: saving at step %d" % (rank, step), flush=True)
        store.barrier("save")
        open("preempt.%d.pt" % rank, "w").close()

    for step in range(300):
        crunch(0.14)
        if rank == 1 and step == 60:
            os.kill(os.getpid(), signal.SIGUSR1)
        if wanted:
            save(step)
            return
        store.all_reduce("grad/%d" % step, 0.5)
        if rank == 0:
            told(step)


main(4, body)
