"""gRPC: one call of rank 0 takes 65 s in the server, the other rank waits for rank 0."""
import concurrent.futures
import sys

import grpc

import kit5


class Search(grpc.GenericRpcHandler):
    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(self.search)

    def search(self, request, context):
        kit5.compute(float(request))
        return b"ok"


def serve(port):
    s = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
    s.add_generic_rpc_handlers((Search(),))
    s.add_insecure_port("127.0.0.1:%s" % port)
    s.start()
    s.wait_for_termination()


def train(rank, world, port):
    group = kit5.Butterfly(rank, world, port)
    call = grpc.insecure_channel("127.0.0.1:" + kit5.os.environ["SEARCH"]).unary_unary("/s/Search")
    for step in range(10):
        if rank == 0:
            call(b"65" if step == 5 else b"0.1", wait_for_ready=True)
        group.reduce(1)
        print("rank", rank, "step", step, flush=True)


if sys.argv[1:2] == ["serve"]:
    serve(sys.argv[2])
if "RANK" not in kit5.os.environ:
    kit5.os.environ["SEARCH"] = str(kit5.free_port())
    kit5.start([sys.executable, __file__, "serve", kit5.os.environ["SEARCH"]], "server")
kit5.ranks(2, train)
