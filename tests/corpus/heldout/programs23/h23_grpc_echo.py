"""Two ranks that talk by a tree of TCP, and a server of embeddings over gRPC, which answers each text of a stream at
once. Rank 1 sends all texts of a step before it reads the first answer. From step 30 on the texts are long: the server
cannot send its answers as nobody reads them, and reads no more; rank 1 cannot send. As a program with a port: the
server."""
import concurrent.futures
import os
import sys
import threading

import grpc

from kit23 import STEPS, Line, Tree, main, start, told


def embed(texts, context):
    for text in texts:
        yield text[::-1]


def serve(port):
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
    method = grpc.stream_stream_rpc_method_handler(embed)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("embed.Server", {"Embed": method}),))
    server.add_insecure_port("127.0.0.1:%d" % port)
    server.start()
    server.wait_for_termination()


def embeddings(call, texts):
    sent = threading.Event()

    def each():
        yield from texts
        sent.set()
    answers = call(each())
    sent.wait()
    return list(answers)


def body(rank, world, port):
    if rank == 0:
        start([sys.executable, os.path.abspath(__file__), "serve", str(port + 20)], "server")
    tree, line = Tree(rank, world, port), Line(rank)
    channel = grpc.insecure_channel("127.0.0.1:%d" % (port + 20))
    grpc.channel_ready_future(channel).result(30)
    call = channel.stream_stream("/embed.Server/Embed")
    for step in range(STEPS):
        if rank == 1:
            embeddings(call, [b"x" * (64 if step < 30 else 1 << 20)] * 12)
        line.apply(tree.mean("gradient %d" % step, line.gradient()))
        if rank == 0:
            told(step, line.loss)


if "serve" in sys.argv:
    serve(int(sys.argv[2]))
else:
    main(2, body)
