"""Samples by a stream in both directions: the client asks again after every full batch, the server's last batch is not full."""
import concurrent.futures
import queue
import sys

import grpc

import kit4


def samples(requests, context):
    left = 50
    for _ in requests:
        for _ in range(min(4, left)):
            left -= 1
            yield b"sample"


class Handler(grpc.GenericRpcHandler):
    def service(self, details):
        return grpc.stream_stream_rpc_method_handler(samples)


def serve(port):
    s = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
    s.add_generic_rpc_handlers((Handler(),))
    s.add_insecure_port("127.0.0.1:%s" % port)
    s.start()
    s.wait_for_termination()


def main():
    kit4.role("main")
    port = kit4.free_port()
    kit4.start([sys.executable, __file__, "serve", str(port)], "server")
    asks = queue.Queue()
    channel = grpc.insecure_channel("127.0.0.1:%d" % port)
    grpc.channel_ready_future(channel).result()
    answers = channel.stream_stream("/data/Stream")(iter(asks.get, None))
    for i in range(1000):
        asks.put(b"4")
        batch = [next(answers) for _ in range(4)]
        kit4.crunch(0.25)
        print("step %d: %d samples" % (i, len(batch)), flush=True)


serve(sys.argv[2]) if sys.argv[1:2] == ["serve"] else main()
