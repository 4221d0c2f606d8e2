"""A gRPC service with two threads whose method asks the same service for each half of its work."""
import concurrent.futures
import sys

import grpc

import kit4

PORT = [None]


def score(request, context):
    n = int(request)
    if n <= 100:
        kit4.crunch(0.05)
        return b"%d" % n
    with grpc.insecure_channel("127.0.0.1:%s" % PORT[0]) as c:
        halves = [c.unary_unary("/s/Score").future(b"%d" % (n // 2)) for _ in range(2)]
        return b"%d" % sum(int(h.result()) for h in halves)


class Handler(grpc.GenericRpcHandler):
    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(score)


def serve(port):
    PORT[0] = port
    s = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
    s.add_generic_rpc_handlers((Handler(),))
    s.add_insecure_port("127.0.0.1:%s" % port)
    s.start()
    s.wait_for_termination()


def main():
    kit4.role("main")
    port = kit4.free_port()
    kit4.start([sys.executable, __file__, "serve", str(port)], "server")
    call = grpc.insecure_channel("127.0.0.1:%d" % port).unary_unary("/s/Score")
    for i in range(1000):
        n = 200 if i < 12 else 800
        print("document %d score %d" % (i, int(call(b"%d" % n, wait_for_ready=True))), flush=True)
        kit4.crunch(0.2)


serve(sys.argv[2]) if sys.argv[1:2] == ["serve"] else main()
