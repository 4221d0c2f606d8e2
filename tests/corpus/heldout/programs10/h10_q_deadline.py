"""Rank 1 asks a gRPC service that is stuck, with a deadline of a minute, and goes on with its own value."""
import os
import time
from concurrent import futures

import grpc

import kit10


def server(port):
    handlers = {"Lookup": grpc.unary_unary_rpc_method_handler(lambda request, context: time.sleep(90) or b"")}
    s = grpc.server(futures.ThreadPoolExecutor(2))
    s.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("Config", handlers)])
    s.add_insecure_port("127.0.0.1:%d" % port)
    s.start()
    s.wait_for_termination()


def body(rank, n, port):
    if rank == 0:
        kit10.start([os.sys.executable, os.path.abspath(__file__), "server", str(port + 3)], "server")
    hub = kit10.Hub(rank, n, port)
    for s in range(50):
        kit10.crunch(0.1)
        if rank == 1 and s == 20:
            channel = grpc.insecure_channel("127.0.0.1:%d" % (port + 3))
            try:
                channel.unary_unary("/Config/Lookup")(b"temperature", timeout=60, wait_for_ready=True)
            except grpc.RpcError as error:
                print("rank 1: %s, taking 0.7" % error.code(), flush=True)
        hub.reduce(1)
        kit10.log(rank, s, temperature=0.7)


if "server" in os.sys.argv:
    server(int(os.sys.argv[2]))
else:
    kit10.main(2, body)
