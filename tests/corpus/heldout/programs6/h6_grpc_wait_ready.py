"""A scoring server leaves with 0 after its quota. Calls of rank 1 are made to wait until the channel is ready, without a limit."""
import concurrent.futures as cf
import os
import sys
import threading

import grpc

import kit6


def raw(x):
    return x


def serve(port):
    count, enough = [], threading.Event()

    def score(request, context):
        count.append(1)
        if len(count) == 40:
            enough.set()
        return b"0.5"

    server = grpc.server(cf.ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("S", {"C": grpc.unary_unary_rpc_method_handler(score, raw, raw)}),))
    server.add_insecure_port("127.0.0.1:%s" % port)
    server.start()
    enough.wait()
    server.stop(1).wait()


def train(rank, world, port):
    total = kit6.Reducer()
    call = grpc.insecure_channel("127.0.0.1:" + os.environ["SCORER"]).unary_unary("/S/C", raw, raw)
    for step in range(1000):
        kit6.crunch(0.15)
        if rank == 1:
            call(b"%d" % step, wait_for_ready=True)
        total.sum(step)
        if rank == 0:
            print("step", step, "reward 0.5", flush=True)


if sys.argv[1:] and "RANK" not in os.environ:
    serve(sys.argv[1])
else:
    if "SCORER" not in os.environ:
        os.environ["SCORER"] = str(kit6.free_port())
        kit6.start([sys.executable, __file__, os.environ["SCORER"]], "scorer")
        kit6.reducer(3)
    kit6.ranks(3, train)
