"""A server of parameters by XML-RPC, one request at a time. It evaluates for 62 s within a request, all workers wait."""
import os
import sys
from xmlrpc.client import ServerProxy
from xmlrpc.server import SimpleXMLRPCServer

import kit8

weights = [0.0]


def push(worker, step):
    weights[0] += 0.01
    if (worker, step) == (1, 14):
        kit8.compute(62)
    return weights[0]


def serve(port):
    server = SimpleXMLRPCServer(("127.0.0.1", port), logRequests=False)
    server.register_function(push)
    server.serve_forever()


def train(rank, n, port):
    ps = ServerProxy("http://127.0.0.1:%s" % os.environ["PS_PORT"])
    for step in range(30):
        kit8.crunch(0.3)
        print("worker %d | step %d | w %.4f" % (rank, step, ps.push(rank, step)), flush=True)


if sys.argv[1:2] == ["serve"]:
    serve(int(sys.argv[2]))
elif "PART" not in os.environ:
    os.environ["PS_PORT"] = str(kit8.free_port())
    kit8.start([sys.executable, __file__, "serve", os.environ["PS_PORT"]], "ps")
    kit8.dial(int(os.environ["PS_PORT"])).close()
kit8.ranks(3, train, "PART")
