"""A lock is a key of a server. The worker that had set it was killed, the others ask each half second whether the key is free."""
import os
import signal
import time

import kit6


def work(rank, world, port):
    keys = kit6.Keys()
    for n in range(1000):
        kit6.crunch(0.1)
        while keys.ask("SETNX", "lock:vocab", rank) != "nil":
            time.sleep(0.5)
        if rank == 1 and n == 6:
            os.kill(os.getpid(), signal.SIGKILL)
        kit6.crunch(0.05)
        keys.ask("DEL", "lock:vocab")
        print("worker %d merged %d" % (rank, n), flush=True)


kit6.keys()
kit6.ranks(3, work, "fork")
