"""Two trainers push their gradients to a server of parameters by gRPC. For the second phase they open a
channel to the port of another shard, which is one too high, and wait for it to be ready."""
import concurrent.futures

import grpc

from kit14 import crunch, free_port, role, start, sys, told, with_parent

BYTES = {"request_serializer": bytes, "response_deserializer": bytes}


def add(request, context):
    return b"%d" % (len(request) % 97)


def serve(port):
    method = grpc.unary_unary_rpc_method_handler(add, bytes, bytes)
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("ps.Shard", {"Push": method}),))
    server.add_insecure_port("127.0.0.1:%d" % port)
    server.start()
    server.wait_for_termination()


def push(channel, step):
    return channel.unary_unary("/ps.Shard/Push", **BYTES)(b"g" * (step + 1), wait_for_ready=True)


def train(port):
    with_parent()
    role("main")
    start([sys.executable, __file__, "serve", str(port)], "server")
    near = grpc.insecure_channel("127.0.0.1:%d" % port)
    for step in range(60):
        crunch(0.15)
        push(near, step)
        told(step)
    print("phase 2", flush=True)
    far = grpc.insecure_channel("127.0.0.1:%d" % (port + 1))
    for step in range(60, 90):
        push(far, step)
        told(step)


serve(int(sys.argv[2])) if "serve" in sys.argv else train(free_port())
