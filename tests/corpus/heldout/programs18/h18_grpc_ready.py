"""A trainer asks an evaluator by gRPC each 20 steps, with wait_for_ready, as the evaluator may be slow to start. The
evaluator ends itself after two evaluations, as it was told to do to try it out. The third call waits for a server that
does not come again.

slow: the evaluator stays, and takes 48 s for the third."""
import concurrent.futures
import os
import sys
import threading

import grpc
from kit18 import SLOW, STEPS, again, busy, crunch, free_port, me, role, start, told


class Evaluator(grpc.GenericRpcHandler):
    def __init__(self):
        self.done, self.enough = 0, threading.Event()

    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(self.evaluate)

    def evaluate(self, request, context):
        crunch(0.3)
        self.done += 1
        if SLOW and self.done == 3:
            busy(48)
        if self.done == 2 and not SLOW:
            self.enough.set()
        return b"0.81"


def serve(port):
    me("evaluator")
    evaluator = Evaluator()
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(2), handlers=[evaluator])
    server.add_insecure_port("127.0.0.1:%d" % port)
    server.start()
    evaluator.enough.wait()
    server.stop(1.0).wait()
    os._exit(0)


def evaluate(channel):
    return channel.unary_unary("/eval.Evaluator/Evaluate")(b"weights", wait_for_ready=True)


def train():
    role("main")
    port = free_port()
    start(again("serve") + ["at", str(port)], "evaluator")
    channel = grpc.insecure_channel("127.0.0.1:%d" % port)
    for step in range(STEPS):
        if step % 20 == 0:
            evaluate(channel)
        crunch(0.2)
        told(step)


if "serve" in sys.argv:
    serve(int(sys.argv[sys.argv.index("at") + 1]))
else:
    train()
