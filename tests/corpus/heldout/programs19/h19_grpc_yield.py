"""A trainer reads its batches from a service by a stream of gRPC, and reports what it finds odd by another call. The
service yields batches while it holds its lock, and takes that lock for a report. A report in the midst of an epoch
waits for the lock; the stream, which is full, waits for the trainer to read on, and it is in the report."""
import sys
import threading
from concurrent import futures

import grpc

from kit19 import again, crunch, role, start, told, with_parent

# What may be on its way of a stream does not grow.
WINDOW = [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 1 << 16)]


class Data:
    def __init__(self):
        self.lock, self.odd = threading.Lock(), []

    def epoch(self, request, context):
        with self.lock:  # no change while it is read
            for _ in range(24):
                yield bytes(3 << 20)

    def report(self, request, context):
        with self.lock:
            self.odd.append(request)
        return b"noted"


def serve():
    data = Data()
    server = grpc.server(futures.ThreadPoolExecutor(4), options=WINDOW)
    handlers = {"Epoch": grpc.unary_stream_rpc_method_handler(data.epoch),
                "Report": grpc.unary_unary_rpc_method_handler(data.report)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Data", handlers),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    server.wait_for_termination()


def train():
    role("main")
    process = start(again("server"), "server", stdout=-1)
    channel = grpc.insecure_channel("127.0.0.1:%d" % int(process.stdout.readline()), WINDOW)
    epoch, report = channel.unary_stream("/Data/Epoch"), channel.unary_unary("/Data/Report")
    for k in range(30):
        for i, batch in enumerate(epoch(b"")):
            step = 24 * k + i
            crunch(0.2)
            told(step)
            if step == 30:
                report(b"a batch of zeros")
        report(b"end of epoch")


if "server" in sys.argv:
    with_parent()
    serve()
else:
    train()
