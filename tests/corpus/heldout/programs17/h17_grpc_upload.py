"""A trainer sends metrics by a stream of gRPC, out of a generator that takes them from a queue. At the end of an epoch
it asks for the summary, the call's answer, without having told the generator that there are no more: the server waits
for the next message, the trainer for the answer.

slow: it tells the generator; the summary takes the server 48 s."""
import queue
import sys
from concurrent import futures

import grpc
from kit17 import SLOW, busy, crunch, free_port, role, start, told, with_parent


def same(x):
    return x


def summarize(requests, context):
    n = sum(1 for _ in requests)
    if SLOW:
        busy(48)
    return b"%d rows" % n


def serve(port):
    with_parent()
    server = grpc.server(futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("metrics", {
        "Upload": grpc.stream_unary_rpc_method_handler(summarize, same, same)})])
    server.add_insecure_port("127.0.0.1:%d" % port)
    server.start()
    server.wait_for_termination()


def train():
    role("main")
    port = free_port()
    start([sys.executable, *sys.argv, "serve", str(port)], "server")
    channel = grpc.insecure_channel("127.0.0.1:%d" % port)
    grpc.channel_ready_future(channel).result(30)
    rows = queue.Queue()
    summary = channel.stream_unary("/metrics/Upload", same, same).future(iter(rows.get, None))
    for step in range(50):
        crunch(0.2)
        rows.put(b"%d 0.5" % step)
        told(step)
    if SLOW:
        rows.put(None)
    print(summary.result(), flush=True)


serve(int(sys.argv[-1])) if "serve" in sys.argv else train()
