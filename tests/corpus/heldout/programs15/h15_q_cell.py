"""A kernel of a notebook, by ZeroMQ: cells come, then the one before the notebook reads for 55 s, and goes on."""
import multiprocessing
import time

import zmq
from kit15 import free_port, me, role


def kernel(port):
    me("kernel")
    door = zmq.Context().socket(zmq.ROUTER)
    door.bind("tcp://127.0.0.1:%d" % port)
    for k in range(100000):
        who, _, cell = door.recv_multipart()
        time.sleep(0.12)
        if k % 5 == 0:
            print("step %d cell %s" % (k, cell.decode()), flush=True)
        door.send_multipart([who, b"", b"ok"])


if __name__ == "__main__":
    role("main")
    port = free_port()
    multiprocessing.get_context("spawn").Process(target=kernel, args=(port,), daemon=True).start()
    ask = zmq.Context().socket(zmq.REQ)
    ask.connect("tcp://127.0.0.1:%d" % port)
    for k in range(80):
        if k == 55:
            time.sleep(55)
        ask.send(b"train_step(%d)" % k)
        ask.recv()
