"""A trainer streams completions to a reward model by gRPC and takes scores. The model scores eight at a time;
in one step the trainer has only five, waits for five scores with its stream open, and the model for three more."""
import concurrent.futures
import multiprocessing
import queue
import time

import grpc
from kit15 import crunch, free_port, me, role, told

SAME = dict(request_serializer=bytes, response_deserializer=bytes)


def score(requests, context):
    batch = []
    for request in requests:
        batch.append(request)
        if len(batch) == 8:
            time.sleep(0.1)
            yield from (b"0.5" for _ in batch)
            batch.clear()


def serve(port):
    me("reward")
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
    handler = grpc.stream_stream_rpc_method_handler(score, bytes, bytes)
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("Reward", {"Score": handler})])
    server.add_insecure_port("127.0.0.1:%d" % port)
    server.start()
    server.wait_for_termination()


def rewards(out, scores, n):
    for k in range(n):
        out.put(b"completion %d" % k)
    return [float(next(scores)) for _ in range(n)]


if __name__ == "__main__":
    role("main")
    port, out = free_port(), queue.Queue()
    multiprocessing.get_context("spawn").Process(target=serve, args=(port,), daemon=True).start()
    channel = grpc.insecure_channel("127.0.0.1:%d" % port)
    grpc.channel_ready_future(channel).result(60)
    scores = channel.stream_stream("/Reward/Score", **SAME)(iter(out.get, None))
    for step in range(120):
        crunch(0.1)
        rewards(out, scores, 8 if step != 46 else 5)
        told(step)
