"""A parameter server over gRPC. One call waits for its queue with the model's lock in hand, the others want the lock. No deadlines."""
import concurrent.futures
import queue
import sys
import threading

import grpc

import kit4


class Server(grpc.GenericRpcHandler):
    def __init__(self):
        self.lock, self.deltas = threading.Lock(), queue.Queue()

    def service(self, details):
        return grpc.unary_unary_rpc_method_handler({"/ps/Push": self.push, "/ps/Merge": self.merge}[details.method])

    def push(self, request, context):
        with self.lock:
            self.deltas.put(request)
            return b"ok"

    def merge(self, request, context):
        with self.lock:
            for _ in range(int(request)):
                self.deltas.get()
            return b"merged"


def serve(port):
    s = grpc.server(concurrent.futures.ThreadPoolExecutor(8))
    s.add_generic_rpc_handlers((Server(),))
    s.add_insecure_port("127.0.0.1:%s" % port)
    s.start()
    s.wait_for_termination()


def train(rank, world, port):
    channel = grpc.insecure_channel("127.0.0.1:" + kit4.os.environ["PS_PORT"])
    push, merge = channel.unary_unary("/ps/Push"), channel.unary_unary("/ps/Merge")
    for i in range(1000):
        kit4.crunch(0.2)
        push(b"%d" % i, wait_for_ready=True)
        if rank == 0:
            if i % 4 == 3:
                merge(b"3" if i < 14 else b"500")
            print("step %d" % i, flush=True)


if sys.argv[1:2] == ["serve"]:
    serve(sys.argv[2])
if "RANK" not in kit4.os.environ:
    kit4.os.environ["PS_PORT"] = str(kit4.free_port())
    kit4.start([sys.executable, __file__, "serve", kit4.os.environ["PS_PORT"]], "server")
kit4.main(3, train)
