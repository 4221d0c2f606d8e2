"""A trainer calls a reward model by gRPC with wait_for_ready; the model loads for 55 s before it listens."""
import concurrent.futures
import multiprocessing
import time

import grpc
from kit15 import crunch, free_port, me, role, told


def serve(port):
    me("reward")
    time.sleep(55)
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
    handler = grpc.unary_unary_rpc_method_handler(lambda request, context: b"0.5", bytes, bytes)
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("Reward", {"Score": handler})])
    server.add_insecure_port("127.0.0.1:%d" % port)
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    role("main")
    port = free_port()
    multiprocessing.get_context("spawn").Process(target=serve, args=(port,), daemon=True).start()
    score = grpc.insecure_channel("127.0.0.1:%d" % port).unary_unary("/Reward/Score", bytes, bytes)
    for step in range(90):
        crunch(0.12)
        if step >= 60:
            score(b"completion", wait_for_ready=True, timeout=120)
        told(step)
