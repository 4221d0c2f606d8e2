"""A trainer hands its losses to a service by a stream of gRPC, which takes them from a queue, and asks for the report
at the end. The service writes it when the stream of losses ends. Nobody tells the queue that it does.

slow: it is told, and the report takes 48 s."""
import queue
import sys
import time
from concurrent import futures

import grpc

from kit20 import SLOW, again, crunch, role, start, told, with_parent


def report(requests, context):
    total = sum(float(r) for r in requests)
    if SLOW:
        time.sleep(48)
    return b"%f" % total


def serve():
    with_parent()
    server = grpc.server(futures.ThreadPoolExecutor(4))
    handler = grpc.stream_unary_rpc_method_handler(report)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Losses", {"Report": handler}),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    server.wait_for_termination()


def taken(losses):
    while True:
        loss = losses.get()
        if loss is None:
            return
        yield b"%f" % loss


def finish(call):
    print("mean loss: %s" % call.result().decode(), flush=True)


def train():
    role("main")
    process = start(again("server"), "server", stdout=-1)
    channel = grpc.insecure_channel("127.0.0.1:%d" % int(process.stdout.readline()))
    losses = queue.SimpleQueue()
    call = channel.stream_unary("/Losses/Report").future(taken(losses))
    for step in range(45):
        crunch(0.2)
        losses.put(2.5 / (1 + 0.1 * step))
        told(step)
    if SLOW:
        losses.put(None)
    finish(call)


if "server" in sys.argv:
    serve()
else:
    train()
