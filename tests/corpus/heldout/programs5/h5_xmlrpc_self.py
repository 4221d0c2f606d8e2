"""A metrics service by XML-RPC, one request after the other; the method for a summary asks the service's own address."""
import sys
import time
import xmlrpc.client
import xmlrpc.server

import kit5


def serve(port):
    values = []
    s = xmlrpc.server.SimpleXMLRPCServer(("127.0.0.1", port), logRequests=False, allow_none=True)
    s.register_function(values.append, "add")
    s.register_function(lambda: sum(values), "total")
    s.register_function(lambda: xmlrpc.client.ServerProxy("http://127.0.0.1:%d" % port).total() / len(values), "mean")
    s.serve_forever()


def train(rank, world, port):
    mesh = kit5.Mesh(rank, world)
    for step in range(1000):
        kit5.crunch(0.2)
        metrics = xmlrpc.client.ServerProxy("http://127.0.0.1:" + kit5.os.environ["METRICS"])
        metrics.add(0.5)
        if rank == 1 and step == 10:
            metrics.mean()
        mesh.reduce(1)
        if rank == 0:
            print("step", step, flush=True)


if sys.argv[1:2] == ["serve"]:
    serve(int(sys.argv[2]))
if "RANK" not in kit5.os.environ:
    kit5.os.environ["METRICS"] = str(kit5.free_port())
    kit5.start([sys.executable, __file__, "serve", kit5.os.environ["METRICS"]], "server")
    time.sleep(1)
kit5.ranks(3, train)
