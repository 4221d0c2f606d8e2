"""A server of parameters by XML-RPC, one request at a time. sync() waits inside its request for the calls of all workers."""
import os
import sys
import time
from xmlrpc.client import ServerProxy
from xmlrpc.server import SimpleXMLRPCServer

import kit8

HERE, weights = set(), [0.0]


def push(worker, gradient):
    weights[0] -= 0.01 * gradient
    return weights[0]


def sync(worker, n):
    HERE.add(worker)
    while len(HERE) < n:
        time.sleep(0.1)
    return weights[0]


def serve(port):
    server = SimpleXMLRPCServer(("127.0.0.1", port), logRequests=False)
    server.register_function(push)
    server.register_function(sync)
    server.serve_forever()


def train(rank, n, port):
    ps = ServerProxy("http://127.0.0.1:%s" % os.environ["PS_PORT"])
    for step in range(1000):
        kit8.crunch(0.3)
        w = ps.push(rank, 0.1 * rank + 1)
        print("worker %d | step %d | w %.4f" % (rank, step, w), flush=True)
        if step == 12:
            ps.sync(rank, n)


if sys.argv[1:2] == ["serve"]:
    serve(int(sys.argv[2]))
elif "PART" not in os.environ:
    os.environ["PS_PORT"] = str(kit8.free_port())
    kit8.start([sys.executable, __file__, "serve", os.environ["PS_PORT"]], "ps")
    kit8.dial(int(os.environ["PS_PORT"])).close()
if sys.argv[1:2] != ["serve"]:
    kit8.ranks(3, train, "PART")
