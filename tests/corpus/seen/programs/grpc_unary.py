"""Rank 2 calls a gRPC feature service in which a handler waits for a lock that another call kept."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import threading
import time


def serve(port):
    import grpc
    from concurrent import futures
    lock = threading.Lock()
    n = 0

    def get(req, ctx):
        nonlocal n
        n += 1
        lock.acquire()
        if n != 12:
            lock.release()
        return req

    h = grpc.method_handlers_generic_handler("F", {"Get": grpc.unary_unary_rpc_method_handler(get)})
    s = grpc.server(futures.ThreadPoolExecutor(2), handlers=(h,))
    s.add_insecure_port(f"127.0.0.1:{port}")
    s.start()
    s.wait_for_termination()


def setup():
    kit.fork_child("features", serve, int(os.environ["MASTER_PORT"]))


def run():
    group = kit.Mesh()
    if kit.RANK == 2:
        import grpc
        get = grpc.insecure_channel("127.0.0.1:" + os.environ["MASTER_PORT"]).unary_unary("/F/Get")
    for i in range(1000):
        time.sleep(0.25)
        if kit.RANK == 2:
            get(b"user", wait_for_ready=True)
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(3, run, setup)
