"""A parameter server on a ZeroMQ router sends one answer to a name that nobody has; it is dropped."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import time
import zmq


def serve(addr):
    s = zmq.Context().socket(zmq.ROUTER)
    s.bind(addr)
    n = 0
    while True:
        who, g = s.recv_multipart()
        n += 1
        if n > 60 and who == b"rank2":
            who = b"worker-2"        # after a "reconnect"
        s.send_multipart([who, g])


def run():
    group = kit.Mesh()
    s = zmq.Context().socket(zmq.DEALER)
    s.setsockopt(zmq.IDENTITY, f"rank{kit.RANK}".encode())
    s.connect("ipc://" + kit.tmp("ps"))
    for i in range(1000):
        time.sleep(0.4)
        s.send(b"grad")
        s.recv()
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "info")


kit.main(3, run, lambda: kit.fork_child("ps", serve, "ipc://" + kit.tmp("ps")) and None)
