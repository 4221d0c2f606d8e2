"""A stream of requests to a model server: it answers in batches of eight; the client asks four times and waits for its answers."""
import queue
import sys
from concurrent.futures import ThreadPoolExecutor

import grpc

import kit8


def predict(requests, context):
    batch = []
    for r in requests:
        batch.append(r)
        if len(batch) == 8:
            yield from batch
            batch = []


def serve(port):
    server = grpc.server(ThreadPoolExecutor(4))
    handler = grpc.method_handlers_generic_handler("Model", {"Predict": grpc.stream_stream_rpc_method_handler(predict)})
    server.add_generic_rpc_handlers((handler,))
    server.add_insecure_port("127.0.0.1:%d" % port)
    server.start()
    server.wait_for_termination()


if sys.argv[1:]:
    serve(int(sys.argv[1]))
kit8.role("main")
port = kit8.free_port()
kit8.start([sys.executable, __file__, str(port)], "server")
requests = queue.Queue()
channel = grpc.insecure_channel("127.0.0.1:%d" % port)
answers = channel.stream_stream("/Model/Predict")(iter(requests.get, None), wait_for_ready=True)
for batch in range(100):
    size = 8 if batch < 20 else 4
    for n in range(size):
        requests.put(b"prompt %d" % n)
    for n in range(size):
        next(answers)
    kit8.crunch(0.3)
    print("batch %d: %d predictions" % (batch, size), flush=True)
