"""The data cache is locked by an indexer that an earlier script left behind; it waits for orders on a socket."""
import fcntl
import os
import sys
import time

import kit4

if sys.argv[1:] == ["index"]:
    f = open("cache.lock", "w")
    fcntl.flock(f, fcntl.LOCK_EX)
    open("indexed", "w").close()
    kit4.listen(kit4.free_port()).accept()


def train(rank, world, port):
    hub = kit4.Hub(rank, world, port)
    for i in range(200):
        kit4.crunch(0.25)
        hub.reduce(1)
        if rank == 0:
            print("step %d" % i, flush=True)
        if i == 10 and rank == 1:
            with open("cache.lock", "w") as f:
                fcntl.flock(f, fcntl.LOCK_EX)


if "RANK" not in os.environ:
    kit4.start([sys.executable, __file__, "index"], "indexer")
    while not os.path.exists("indexed"):
        time.sleep(0.05)
kit4.main(3, train)
