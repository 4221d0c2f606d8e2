"""A stream of requests to a model server, which loads another model for 62 s before it answers the 80th."""
import queue
import sys
from concurrent.futures import ThreadPoolExecutor

import grpc

import kit8


def predict(requests, context):
    for number, r in enumerate(requests):
        if number == 80:
            kit8.compute(62)
        yield r


def serve(port):
    server = grpc.server(ThreadPoolExecutor(4))
    handler = grpc.method_handlers_generic_handler("Model", {"Predict": grpc.stream_stream_rpc_method_handler(predict)})
    server.add_generic_rpc_handlers((handler,))
    server.add_insecure_port("127.0.0.1:%d" % port)
    server.start()
    server.wait_for_termination()


if sys.argv[1:]:
    serve(int(sys.argv[1]))
port = kit8.free_port()
kit8.start([sys.executable, __file__, str(port)], "server")
requests = queue.Queue()
channel = grpc.insecure_channel("127.0.0.1:%d" % port)
answers = channel.stream_stream("/Model/Predict")(iter(requests.get, None), wait_for_ready=True)
for batch in range(20):
    for n in range(8):
        requests.put(b"prompt %d" % n)
    for n in range(8):
        next(answers)
    kit8.crunch(0.3)
    print("batch %d: 8 predictions" % batch, flush=True)
requests.put(None)
