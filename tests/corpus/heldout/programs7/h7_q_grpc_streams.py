"""Two streams have both threads of a gRPC server; each is closed after a minute, and then the trainer's call is served."""
import concurrent.futures
import sys
import time

import grpc

import kit7

same = {"request_deserializer": None, "response_serializer": None}


def watch(request, context):
    for _ in range(1):
        time.sleep(66)
        yield b"version"


def push(request, context):
    return request


def serve(port):
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("Params", {
        "Watch": grpc.unary_stream_rpc_method_handler(watch, **same), "Push": grpc.unary_unary_rpc_method_handler(push, **same)})])
    server.add_insecure_port("127.0.0.1:%d" % port)
    server.start()
    server.wait_for_termination()


def observe(port):
    list(grpc.insecure_channel("127.0.0.1:%d" % port).unary_stream("/Params/Watch")(b"", wait_for_ready=True))


if sys.argv[1:]:
    {"serve": serve, "watch": observe}[sys.argv[1]](int(sys.argv[2]))
    sys.exit()
kit7.role("main")
port = kit7.free_port()
kit7.start([sys.executable, __file__, "serve", str(port)], "server")
call = grpc.insecure_channel("127.0.0.1:%d" % port).unary_unary("/Params/Push")
for step in range(30):
    kit7.crunch(0.2)
    if step in (12, 13):
        kit7.start([sys.executable, __file__, "watch", str(port)], "watcher%d" % (step - 12))
        time.sleep(1.5)
    call(b"gradient", wait_for_ready=True)
    print("global step %d, loss = %.3f" % (step, 2 / (step + 1)), flush=True)
