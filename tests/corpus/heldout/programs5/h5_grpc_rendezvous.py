"""gRPC: a rendezvous holds each call until all four ranks have called, and the server has two threads."""
import concurrent.futures
import sys
import threading

import grpc

import kit5


class Rendezvous(grpc.GenericRpcHandler):
    def __init__(self, world):
        self.barrier = threading.Barrier(world)

    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(self.join)

    def join(self, request, context):
        self.barrier.wait()
        return b"go"


def serve(port, world):
    s = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
    s.add_generic_rpc_handlers((Rendezvous(world),))
    s.add_insecure_port("127.0.0.1:%s" % port)
    s.start()
    s.wait_for_termination()


def train(rank, world, port):
    join = grpc.insecure_channel("127.0.0.1:" + kit5.os.environ["RENDEZVOUS"]).unary_unary("/r/Join")
    print("rank", rank, "joins", flush=True)
    join(b"%d" % rank, wait_for_ready=True)
    print("rank", rank, "trains", flush=True)


if sys.argv[1:2] == ["serve"]:
    serve(sys.argv[2], 4)
if "RANK" not in kit5.os.environ:
    kit5.os.environ["RENDEZVOUS"] = str(kit5.free_port())
    kit5.start([sys.executable, __file__, "serve", kit5.os.environ["RENDEZVOUS"]], "server")
kit5.ranks(4, train)
