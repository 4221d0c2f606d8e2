"""Features are kept by one gRPC store for each two ranks; only the first store was started. Rank 2 asks the second with wait_for_ready and without a
deadline: gRPC tries to connect again and again, and tells nothing."""
import concurrent.futures
import os

import grpc

from kit11 import Ring, again, crunch, free_port, job, main


class Features(grpc.GenericRpcHandler):
    def service(self, details):
        if details.method == "/features.Store/Get":
            return grpc.unary_unary_rpc_method_handler(lambda request, context: request * 2)
        return None


def store(port):
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4), handlers=(Features(),))
    server.add_insecure_port("127.0.0.1:%d" % port)
    server.start()
    server.wait_for_termination()


def body(rank, n, port):
    ring = Ring(rank, n, port)
    channel = grpc.insecure_channel("127.0.0.1:%d" % (int(os.environ["STORE_PORT"]) + rank // 2))
    get = channel.unary_unary("/features.Store/Get")
    for step in range(100):
        get(b"user", wait_for_ready=True)
        crunch(0.2)
        loss = ring.reduce(1.0)
        if rank == 0:
            print("batch %d loss %.3f" % (step, loss / (step + 1)), flush=True)


if job()[0] == "store":
    store(int(job()[1][0]))
else:
    if "STORE_PORT" not in os.environ:
        os.environ["STORE_PORT"] = str(free_port())
        again("store", os.environ["STORE_PORT"])
    main(3, body)
