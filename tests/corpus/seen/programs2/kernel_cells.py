"""A kernel answers the cells of a client over ZeroMQ; the person at the client thinks for half a minute between them."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import shutil
import tempfile
import time
import zmq


def person(addr):
    s = zmq.Context().socket(zmq.REQ)
    s.connect(addr)
    for code in ("load", "train", "plot", "quit"):
        s.send_string(code)
        s.recv()
        if code != "quit":
            time.sleep(kit.secs(25))


if __name__ == "__main__":
    d = tempfile.mkdtemp()
    addr = f"ipc://{d}/k"
    kit.role("main")
    kit.fork_child("client", person, addr)
    s = zmq.Context().socket(zmq.REP)
    s.bind(addr)
    code = ""
    while code != "quit":
        code = s.recv_string()
        if code == "train":
            for i in range(10):
                time.sleep(0.3)
                kit.log(i, "keras")
        s.send(b"ok")
    os.wait()
    shutil.rmtree(d)
