"""A gRPC server of parameters with two threads; two watchers stream from it and have taken both, the trainer's call is never begun."""
import concurrent.futures
import sys
import threading

import grpc

import kit7

news = threading.Condition()
same = {"request_deserializer": None, "response_serializer": None}


def watch(request, context):
    while True:
        with news:
            news.wait()
        yield b"version"


def push(request, context):
    kit7.crunch(0.05)
    return request


def serve(port):
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("Params", {
        "Watch": grpc.unary_stream_rpc_method_handler(watch, **same), "Push": grpc.unary_unary_rpc_method_handler(push, **same)})])
    server.add_insecure_port("127.0.0.1:%d" % port)
    server.start()
    server.wait_for_termination()


def observe(port):
    for version in grpc.insecure_channel("127.0.0.1:%d" % port).unary_stream("/Params/Watch")(b"", wait_for_ready=True):
        print(version, flush=True)


if sys.argv[1:]:
    {"serve": serve, "watch": observe}[sys.argv[1]](int(sys.argv[2]))
    sys.exit()
kit7.role("main")
port = kit7.free_port()
kit7.start([sys.executable, __file__, "serve", str(port)], "server")
call = grpc.insecure_channel("127.0.0.1:%d" % port).unary_unary("/Params/Push")
for step in range(1000):
    kit7.crunch(0.2)
    if step in (12, 18):
        kit7.start([sys.executable, __file__, "watch", str(port)], "watcher%d" % (step // 18))
    call(b"gradient", wait_for_ready=True)
    print("global step %d, loss = %.3f" % (step, 2 / (step + 1)), flush=True)
