"""Each rank tells the store once in two seconds that it lives, by a thread. Rank 1 was started by an older
script, in which this thread is not a daemon: its main has come to the end, and the thread goes on for ever.
The launcher waits for rank 1."""
import threading
import time

from kit14 import Store, crunch, main, told


def beat(rank):
    count = 0
    while True:
        with open("alive.%d" % rank, "w") as f:
            f.write(str(count))
        count += 1
        time.sleep(2)


def body(rank, world, port):
    store = Store(rank, world, port)
    threading.Thread(target=beat, args=(rank,), daemon=rank != 1, name="heartbeat").start()
    for step in range(65):
        crunch(0.13)
        store.all_reduce("grad/%d" % step, 0.5)
        if rank == 0:
            told(step)
    print("[rank %d] training done" % rank, flush=True)
    if rank == 0:
        time.sleep(0.5)


main(3, body)
