"""Two ranks ask a gRPC store with wait_for_ready; it loads its tables for 52 s before it listens."""
import concurrent.futures
import os
import time

import grpc

from kit11 import Hub, again, crunch, free_port, job, main


class Features(grpc.GenericRpcHandler):
    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(lambda request, context: request * 2)


def store(port):
    time.sleep(52)
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4), handlers=(Features(),))
    server.add_insecure_port("127.0.0.1:%d" % port)
    server.start()
    server.wait_for_termination()


def body(rank, n, port):
    hub = Hub(rank, n, port)
    get = grpc.insecure_channel("127.0.0.1:" + os.environ["STORE_PORT"]).unary_unary("/features.Store/Get")
    for step in range(30):
        get(b"user", wait_for_ready=True)
        crunch(0.2)
        hub.reduce(1.0)
        if rank == 0:
            print("batch %d" % step, flush=True)


if job()[0] == "store":
    store(int(job()[1][0]))
else:
    if "STORE_PORT" not in os.environ:
        os.environ["STORE_PORT"] = str(free_port())
        again("store", os.environ["STORE_PORT"])
    main(2, body)
