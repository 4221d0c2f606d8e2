"""Two ranks over TCP, and a gRPC server that collects their predictions as streams. A stream is fed from a queue and ends with None.
Rank 1 has a share without predictions, of which the writer returns before it has put None: the stream does not end, the
server waits for more of it, rank 1 for the server's answer and rank 0 for rank 1. As a program with a port: the server.

slow: rank 1's writer needs 48 s."""
import os
import queue
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import grpc

from kit22 import SLOW, STEPS, Mesh, Model, busy, main, start


def collect(stream, context):
    return b"%d" % sum(len(part) for part in stream)


def serve(port):
    server = grpc.server(ThreadPoolExecutor(4))
    method = grpc.stream_unary_rpc_method_handler(collect)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Predictions", {"Collect": method}),))
    server.add_insecure_port("127.0.0.1:%d" % port)
    server.start()
    server.wait_for_termination()


def write(parts, rows, late):
    if late:
        busy(48)
    if not rows:
        return
    for row in rows:
        parts.put(b"%d" % row)
    parts.put(None)


def upload(channel, rows, late):
    parts = queue.Queue()
    threading.Thread(target=write, args=(parts, rows, late), daemon=True).start()
    return channel.stream_unary("/Predictions/Collect")(iter(parts.get, None))


def body(rank, world, port):
    if rank == 0:
        start([sys.executable, os.path.abspath(__file__), "serve", str(port + 20)], "server")
    mesh, model = Mesh(rank, world, port), Model(rank)
    channel = grpc.insecure_channel("127.0.0.1:%d" % (port + 20))
    grpc.channel_ready_future(channel).result()
    for step in range(STEPS):
        model.apply(mesh.all_reduce("gradient %d" % step, model.gradient(model.batch())))
        if rank == 0:
            model.told(step)
        if step % 10 == 9:
            last = rank == 1 and step == 39
            upload(channel, [] if last and not SLOW else list(range(20)), last and SLOW)


if "serve" in sys.argv:
    serve(int(sys.argv[2]))
else:
    main(2, body)
