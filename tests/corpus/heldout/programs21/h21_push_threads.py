"""Three ranks push gradients to a gRPC server of two threads. At the end of an epoch they call `sync`, whose handler waits
until all three have called: two calls have the server's threads, the third rank's call waits for one.

slow: the server has eight threads, and rank 2 calls 48 s later."""
import sys
import threading
from concurrent import futures

import grpc

from kit21 import SLOW, STEPS, busy, crunch, main, start, told


class Server(grpc.GenericRpcHandler):
    def __init__(self, world):
        self.world, self.all_here, self.here, self.epoch = world, threading.Condition(), 0, 0

    def push(self, request, context):
        return b"ok"

    def sync(self, request, context):
        with self.all_here:
            epoch = self.epoch
            self.here += 1
            if self.here == self.world:
                self.here, self.epoch = 0, epoch + 1
                self.all_here.notify_all()
            while self.epoch == epoch:
                self.all_here.wait()
        return b"ok"

    def service(self, details):
        how = self.sync if details.method.endswith("sync") else self.push
        return grpc.unary_unary_rpc_method_handler(how)


def serve(world, port):
    server = grpc.server(futures.ThreadPoolExecutor(8 if SLOW else 2), handlers=[Server(world)])
    server.add_insecure_port("127.0.0.1:%d" % port)
    server.start()
    server.wait_for_termination()


def epoch_end(call, rank):
    if SLOW and rank == 2:
        busy(48)
    call("sync")


def body(rank, world, port):
    if rank == 0:
        start([sys.executable, __file__, "server", str(world), str(port), *sys.argv[1:]], "server")
    channel = grpc.insecure_channel("127.0.0.1:%d" % port)
    grpc.channel_ready_future(channel).result()

    def call(name):
        return channel.unary_unary("/ps/" + name)(b"x" * 100)
    for step in range(STEPS):
        crunch(0.2)
        call("push")
        if rank == 0:
            told(step)
        if step == 40:
            epoch_end(call, rank)


if "server" in sys.argv:
    serve(int(sys.argv[2]), int(sys.argv[3]))
main(3, body)
