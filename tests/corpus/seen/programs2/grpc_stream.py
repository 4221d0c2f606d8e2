"""Rank 1 takes batches from a gRPC stream; the thread behind the server's stream has returned."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import queue
import threading
import time


def serve(port):
    import grpc
    from concurrent import futures
    q = queue.Queue(8)

    def produce():
        for k in range(22):
            q.put(b"batch%d" % k)
            time.sleep(0.1)

    def stream(req, ctx):
        while True:
            yield q.get()

    h = grpc.method_handlers_generic_handler("Feed", {"Pull": grpc.unary_stream_rpc_method_handler(stream)})
    s = grpc.server(futures.ThreadPoolExecutor(3), handlers=(h,))
    s.add_insecure_port(f"127.0.0.1:{port}")
    s.start()
    threading.Thread(target=produce, daemon=True).start()
    s.wait_for_termination()


def run():
    group = kit.Tree()
    if kit.RANK == 1:
        import grpc
        ch = grpc.insecure_channel("127.0.0.1:" + os.environ["MASTER_PORT"])
        feed = ch.unary_stream("/Feed/Pull")(b"", wait_for_ready=True)
    for i in range(1000):
        time.sleep(0.4)
        if kit.RANK == 1:
            next(feed)
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "jax")


kit.main(4, run, lambda: kit.fork_child("feeds", serve, int(os.environ["MASTER_PORT"])) and None)
