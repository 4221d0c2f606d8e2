"""Two ranks in a star and a gRPC service of a registry with one thread (max_workers=1). Rank 1 opens a stream of changes ("Watch") at some
step, which takes the only thread for as long as it is open; its next unary call waits for a thread.

slow: it opens no stream; the service compacts for 70 s."""
import concurrent.futures
import queue
import sys

import grpc

from kit29 import OWN, SLOW, STALL, STEPS, Model, Report, Star, busy, main, os, start, time


class Registry(grpc.GenericRpcHandler):
    def __init__(self):
        self.changes = queue.Queue()
        self.calls = 0

    def service(self, details):
        if details.method == "/registry/Put":
            return grpc.unary_unary_rpc_method_handler(self.put)
        return grpc.unary_stream_rpc_method_handler(self.watch)

    def put(self, request, context):
        self.calls += 1
        if SLOW and self.calls == STALL // 8:
            busy(70)
        return b"ok"

    def watch(self, request, context):
        while context.is_active():
            yield self.changes.get()


def serve():
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=1))
    server.add_generic_rpc_handlers((Registry(),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with open("registry.new", "w") as f:
        f.write(str(port))
    os.rename("registry.new", "registry")
    server.wait_for_termination()


class Client:
    def __init__(self):
        while not os.path.exists("registry"):
            time.sleep(0.1)
        channel = grpc.insecure_channel("127.0.0.1:" + open("registry").read())
        self.put = channel.unary_unary("/registry/Put")
        self.watch = channel.unary_stream("/registry/Watch")


def body(rank, world, port):
    if rank == 1:
        start(OWN + sys.argv[1:] + ["serve"], "registry")
    client = Client() if rank == 1 else None
    star, model, report = Star(rank, world), Model(rank), Report("logging", rank)
    changes = None
    for step in range(STEPS):
        model.update(star.mean("g%d" % step, model.gradient()))
        if rank == 0:
            report(step, model.loss())
        if rank == 1 and step % 8 == 0:
            client.put(b"step %d" % step)
            if step == STALL - 8 and not SLOW:
                changes = client.watch(b"config")
                time.sleep(0.5)
    return changes


if "serve" in sys.argv:
    serve()
else:
    main(2, body)
