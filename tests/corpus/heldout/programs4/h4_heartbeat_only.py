"""Rank 2 goes on to send heartbeats from a thread while its trainer waits for a file that never appears."""
import os
import sys
import threading
import time

import kit4


def beats(port, rank):
    s = kit4.dial(port)
    while True:
        kit4.send(s, ("alive", rank, time.time()))
        kit4.receive(s)
        time.sleep(1)


def monitor(port):
    door = kit4.listen(int(port))

    def one(s):
        while True:
            kit4.receive(s)
            kit4.send(s, "ok")
    while True:
        s, _ = door.accept()
        threading.Thread(target=one, args=(s,), daemon=True).start()


def train(rank, world, port):
    threading.Thread(target=beats, args=(int(os.environ["BEATS"]), rank), daemon=True).start()
    tree = kit4.Tree(rank, world, port)
    for i in range(100):
        kit4.crunch(0.25)
        if i == 12 and rank == 2:
            while not os.path.exists("epoch1/shard2.bin"):
                time.sleep(0.5)
        tree.reduce(i)
        if rank == 0:
            print("step %d" % i, flush=True)


if sys.argv[1:2] == ["monitor"]:
    monitor(sys.argv[2])
if "RANK" not in os.environ:
    os.environ["BEATS"] = str(kit4.free_port())
    kit4.start([sys.executable, __file__, "monitor", os.environ["BEATS"]], "monitor")
kit4.main(4, train)
