"""Eight ranks in a ring; rank 6 keeps the record lock of the token cache over an all-reduce, rank 5 wants it first."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import fcntl
import time


def run():
    ring = kit.Ring()
    f = open(kit.tmp("tokens.idx"), "a+")
    for i in range(1000):
        time.sleep(0.3)
        ring.allreduce(0)
        if i % 6 == 5:
            if kit.RANK == 6:
                fcntl.lockf(f, fcntl.LOCK_EX)
                f.write(f"{i}\n")
                f.flush()
                if i == 23:
                    ring.allreduce(1)
                fcntl.lockf(f, fcntl.LOCK_UN)
            elif kit.RANK == 5:
                time.sleep(0.2)
                fcntl.lockf(f, fcntl.LOCK_EX)
                fcntl.lockf(f, fcntl.LOCK_UN)
        if kit.RANK == 0:
            kit.log(i, "iter")


kit.main(8, run)
