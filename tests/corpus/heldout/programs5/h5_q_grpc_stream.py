"""gRPC: a stream gives a message each 22 s."""
import concurrent.futures
import sys
import time

import grpc

import kit5


class Watch(grpc.GenericRpcHandler):
    def service(self, details):
        return grpc.unary_stream_rpc_method_handler(self.watch)

    def watch(self, request, context):
        for n in range(4):
            time.sleep(22)
            yield b"price %d" % n


def serve(port):
    s = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
    s.add_generic_rpc_handlers((Watch(),))
    s.add_insecure_port("127.0.0.1:%s" % port)
    s.start()
    s.wait_for_termination()


def main():
    kit5.role("main")
    port = kit5.free_port()
    kit5.start([sys.executable, __file__, str(port)], "server")
    stream = grpc.insecure_channel("127.0.0.1:%d" % port).unary_stream("/w/Watch")
    for message in stream(b"", wait_for_ready=True):
        print(message, flush=True)


serve(sys.argv[1]) if sys.argv[1:] else main()
