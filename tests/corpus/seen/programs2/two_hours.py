"""Rank 1 waits up to two hours for the evaluation server; a handler there took a lock that it already had."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import socket
import threading
import time

scores = threading.Lock()


def best(values):
    with scores:
        return max(values)


def serve(srv):
    c, _ = srv.accept()
    values = []
    while True:
        v = kit.recv_msg(c)
        with scores:
            values.append(v)
            b = best(values) if len(values) == 20 else v
        kit.send_msg(c, b)


def setup():
    srv = socket.create_server(("127.0.0.1", 0))
    kit.fork_child("evalsrv", serve, srv)
    return {"EVAL": str(srv.getsockname()[1])}


def run():
    group = kit.Mesh()
    if kit.RANK == 1:
        s = kit.dial(int(os.environ["EVAL"]))
        s.settimeout(7200)
    for i in range(1000):
        time.sleep(0.4)
        if kit.RANK == 1:
            kit.send_msg(s, i)
            kit.recv_msg(s)
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "meter")


kit.main(3, run, setup)
