"""Two ranks push to a service by gRPC, without a deadline. Its handler takes a lock by acquire(), and a version that does not
fit raises before release(). The rank catches the error and tries again, and waits for the lock.

slow: the handler averages a large model for 66 s."""
import concurrent.futures
import sys
import threading
import time

import grpc

from kit28 import SLOW, STALL, STEPS, Star, compute, main, part, tell


class Service(grpc.GenericRpcHandler):
    def __init__(self):
        self.lock, self.failed = threading.Lock(), False

    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(self.push)

    def push(self, request, context):
        self.lock.acquire()
        if request == b"1/%d" % STALL and not self.failed:
            self.failed = True
            if SLOW:
                time.sleep(66)
            else:
                context.abort(grpc.StatusCode.FAILED_PRECONDITION, "version 109 expected")
        self.lock.release()
        return b"ok"


def serve(port):
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((Service(),))
    server.add_insecure_port("127.0.0.1:%s" % port)
    server.start()
    server.wait_for_termination()


def push(call, what):
    while True:
        try:
            return call(what, wait_for_ready=True)
        except grpc.RpcError:
            time.sleep(0.5)


def body(rank, world, port):
    star = Star(rank, world)
    if rank == 0:
        part("service", port)
    call = grpc.insecure_channel("127.0.0.1:%d" % port).unary_unary("/train.Server/Push")
    for step in range(STEPS):
        compute()
        push(call, b"%d/%d" % (rank, step))
        star.mean("grad/%d" % step, 0.5)
        if rank == 0:
            tell(step, "it")


if "service" in sys.argv:
    serve(sys.argv[2])
else:
    main(2, body)
