"""A scheduler over XML-RPC calls the worker back while the worker is still inside its own call."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import time
from threading import Thread
from xmlrpc.client import ServerProxy
from xmlrpc.server import SimpleXMLRPCServer


def scheduler(port, back):
    srv = SimpleXMLRPCServer(("127.0.0.1", port), logRequests=False)
    n = 0

    def report(rank, i):
        nonlocal n
        n += 1
        if n > 12:
            return ServerProxy(f"http://127.0.0.1:{back}").status()
        return i

    srv.register_function(report)
    srv.serve_forever()


def setup():
    a, b = kit.free_port(), kit.free_port()
    kit.fork_child("scheduler", scheduler, a, b)
    return {"SCHED": str(a), "BACK": str(b)}


def run():
    group = kit.Star()
    if kit.RANK == 1:
        mine = SimpleXMLRPCServer(("127.0.0.1", int(os.environ["BACK"])), logRequests=False)
        mine.register_function(lambda: "fine", "status")
        sched = ServerProxy(f"http://127.0.0.1:{os.environ['SCHED']}")
        time.sleep(0.5)
    for i in range(1000):
        time.sleep(0.25)
        if kit.RANK == 1:
            sched.report(1, i)
            mine.timeout = 0
            mine.handle_request()
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run, setup)
