"""Rank 0 announces phases on a ZeroMQ publisher; rank 3 begins to listen after an announcement."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import time
import zmq


def run():
    group = kit.Star()
    ctx = zmq.Context()
    addr = "ipc://" + kit.tmp("phase")
    if kit.RANK == 0:
        pub = ctx.socket(zmq.PUB)
        pub.bind(addr)
    for i in range(1000):
        time.sleep(0.35)
        if i % 12 == 11:
            if kit.RANK == 0:
                time.sleep(1)
                pub.send(b"phase %d" % i)
            else:
                if kit.RANK == 3 and i == 23:
                    time.sleep(2.5)  # rebuilds its index first
                s = ctx.socket(zmq.SUB)
                s.setsockopt(zmq.SUBSCRIBE, b"")
                s.connect(addr)
                s.recv()
                s.close()
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "dict")


kit.main(4, run)
