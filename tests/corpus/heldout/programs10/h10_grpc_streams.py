"""A gRPC server with two threads. Two ranks watch its configuration by streams that never end, each of which keeps a thread; rank 2's
question is never looked at."""
import os
import time
from concurrent import futures

import grpc

import kit10


def server(port):
    def watch(request, context):
        yield b"v1"
        while context.is_active():
            time.sleep(1)

    def lookup(request, context):
        return b"ok"
    handlers = {"Watch": grpc.unary_stream_rpc_method_handler(watch), "Lookup": grpc.unary_unary_rpc_method_handler(lookup)}
    s = grpc.server(futures.ThreadPoolExecutor(2))
    s.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("Config", handlers)])
    s.add_insecure_port("127.0.0.1:%d" % port)
    s.start()
    s.wait_for_termination()


def body(rank, n, port):
    if rank == 0:
        kit10.start([os.sys.executable, os.path.abspath(__file__), "server", str(port + 3)], "server")
    hub = kit10.Hub(rank, n, port)
    channel = grpc.insecure_channel("127.0.0.1:%d" % (port + 3))
    grpc.channel_ready_future(channel).result(30)
    if rank < 2:
        stream = channel.unary_stream("/Config/Watch")(b"")
        next(stream)
    hub.reduce(1)
    for s in range(10):
        kit10.crunch(0.1)
        kit10.log(rank, s, loss=hub.reduce(1))
    if rank == 2:
        channel.unary_unary("/Config/Lookup")(b"learning rate")
    hub.reduce(1)


if "server" in os.sys.argv:
    server(int(os.sys.argv[2]))
else:
    kit10.main(3, body)
