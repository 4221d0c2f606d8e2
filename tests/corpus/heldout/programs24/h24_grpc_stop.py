"""Two ranks, and an evaluator behind gRPC. When rank 1 has its last score it calls the evaluator's Stop. The handler stops
the server, with grace for calls that are under way, and waits until it has stopped: its own call is under way."""
import concurrent.futures
import os
import sys

import grpc

from kit24 import STEPS, Descent, Mesh, crunch, main, start, told


def serve():
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))

    def score(request, context):
        crunch(0.05)
        return b"0.93"

    def stop(request, context):
        server.stop(grace=24 * 3600).wait()
        return b"stopped"

    handlers = {"Score": grpc.unary_unary_rpc_method_handler(score), "Stop": grpc.unary_unary_rpc_method_handler(stop)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Evaluator", handlers),))
    server.add_insecure_port("unix:evaluator")
    server.start()
    server.wait_for_termination()


def stop_evaluator(channel):
    return channel.unary_unary("/Evaluator/Stop")(b"")


def body(rank, world, port):
    if rank == 0:
        start([sys.executable, os.path.abspath(__file__), "serve"], "evaluator")
    mesh, descent = Mesh(rank, world), Descent(rank)
    channel = grpc.insecure_channel("unix:evaluator") if rank == 1 else None
    for step in range(STEPS):
        if rank == 1 and step % 8 == 0 and step < 33:
            channel.unary_unary("/Evaluator/Score")(b"", wait_for_ready=True)
        if rank == 1 and step == 33:
            stop_evaluator(channel)
        descent.follow(mesh.mean("gradient %d" % step, descent.slope()))
        if rank == 0:
            told(step, descent.loss)


if "serve" in sys.argv:
    serve()
else:
    main(2, body)
