"""All ranks want the lock that a converter outside of them has while it works."""
import fcntl
import os
import sys
import time

import kit4

if sys.argv[1:] == ["convert"]:
    with open("data.lock", "w") as f:
        fcntl.lockf(f, fcntl.LOCK_EX)
        open("begun", "w").close()
        with open("data.bin", "wb") as out:
            end = time.time() + 66
            while time.time() < end:
                kit4.compute(0.2)
                out.write(bytes(50000))
                time.sleep(0.2)
    sys.exit(0)


def train(rank, world, port):
    with open("data.lock", "r+") as f:
        fcntl.lockf(f, fcntl.LOCK_EX)
    tree = kit4.Tree(rank, world, port)
    for i in range(12):
        kit4.crunch(0.2)
        tree.reduce(1)
        if rank == 0:
            print("step", i, flush=True)


if "RANK" not in os.environ:
    kit4.start([sys.executable, __file__, "convert"], "converter")
    while not os.path.exists("begun"):
        time.sleep(0.05)
    print("waiting for the data", flush=True)
kit4.main(3, train)
