"""A bar is drawn each second by a thread of its own, with the time that has passed; rank 0's main thread waits at a barrier of threads for one that left."""
import sys
import threading
import time

import kit6


def bar(state):
    begin = time.time()
    while True:
        time.sleep(1)
        print("\r%d%%|#####     | %d/500 [%02d:%02d]" % (state[0] / 5, state[0], *divmod(time.time() - begin, 60)), end="", file=sys.stderr, flush=True)


def augment(k, meet):
    for n in range(20 if k == 1 else 500):
        kit6.crunch(0.15)
        meet.wait()


def train(rank, world, port):
    total, state, meet = kit6.Reducer(), [0], threading.Barrier(3)
    if rank == 0:
        threading.Thread(target=bar, args=(state,), daemon=True).start()
        for k in range(2):
            threading.Thread(target=augment, args=(k, meet), daemon=True).start()
    for state[0] in range(500):
        kit6.crunch(0.1)
        if rank == 0:
            meet.wait()
        total.sum(state[0])


kit6.reducer(3)
kit6.ranks(3, train)
