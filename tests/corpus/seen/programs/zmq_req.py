"""Workers ask a broker over ZeroMQ; the broker forgets one request and waits for the next."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import time


def broker(port):
    import zmq
    s = zmq.Context().socket(zmq.ROUTER)
    s.bind(f"tcp://127.0.0.1:{port}")
    n = 0
    while True:
        parts = s.recv_multipart()
        n += 1
        if n == 40:
            continue
        s.send_multipart(parts)


def setup():
    kit.fork_child("broker", broker, int(os.environ["MASTER_PORT"]))


def run():
    import zmq
    s = zmq.Context().socket(zmq.REQ)
    s.connect("tcp://127.0.0.1:" + os.environ["MASTER_PORT"])
    group = kit.Mesh()
    for i in range(1000):
        time.sleep(0.25)
        s.send(b"task")
        s.recv()
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run, setup)
