"""A ZeroMQ reply comes after 65 s of honest work in the server."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import time


def server(port):
    import zmq
    s = zmq.Context().socket(zmq.REP)
    s.bind(f"tcp://127.0.0.1:{port}")
    n = 0
    while True:
        m = s.recv()
        n += 1
        end = time.time() + (kit.secs(65) if n == 10 else 0)
        while time.time() < end:
            sum(range(10000))
            time.sleep(0.03)
        s.send(m)


def run():
    import zmq
    s = zmq.Context().socket(zmq.REQ)
    s.connect("tcp://127.0.0.1:" + os.environ["MASTER_PORT"])
    for i in range(15):
        time.sleep(0.25)
        s.send(b"q")
        s.recv()
        kit.step(i)


kit.main(1, run, lambda: kit.fork_child("server", server, int(os.environ["MASTER_PORT"])) and None)
