"""A gRPC server with one thread. Rank 0's stream of events has it; rank 1 reports a result, for which the stream waits."""
import concurrent.futures
import os
import queue
import sys
import time

import grpc

import kit9

events = queue.Queue()


def watch(request, context):
    while True:
        yield events.get()


def report(request, context):
    events.put(request)
    return b"ok"


def serve(port):
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(1))
    calls = {"Watch": grpc.unary_stream_rpc_method_handler(watch), "Report": grpc.unary_unary_rpc_method_handler(report)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Trials", calls),))
    server.add_insecure_port("127.0.0.1:%d" % port)
    server.start()
    server.wait_for_termination()


def work(rank, n, port):
    channel = grpc.insecure_channel("127.0.0.1:%s" % os.environ["TRIALS_PORT"])
    call = channel.unary_unary("/Trials/Report")
    if rank == 0:
        call(b"begin", wait_for_ready=True)
        for k, event in enumerate(channel.unary_stream("/Trials/Watch")(b"")):
            print("trial", k, "reported", event.decode(), flush=True)
    time.sleep(3)
    for k in range(30):
        kit9.crunch(0.3)
        call(b"accuracy 0.%d" % (70 + k))


if sys.argv[1:2] == ["serve"]:
    serve(int(sys.argv[2]))
if "TRIALS_PORT" not in os.environ:
    os.environ["TRIALS_PORT"] = str(kit9.free_port())
    kit9.start([sys.executable, sys.argv[0], "serve", os.environ["TRIALS_PORT"]], "trials")
kit9.main(2, work)
