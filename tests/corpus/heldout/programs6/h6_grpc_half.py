"""A stream of features to a gRPC server that answers when the client has said that it is done; the client goes on only after the answer."""
import concurrent.futures as cf
import queue
import sys

import grpc

import kit6


def raw(x):
    return x


def upload(request_iterator, context):
    n = 0
    for part in request_iterator:
        n += 1
    return b"%d" % n


def serve(port):
    server = grpc.server(cf.ThreadPoolExecutor(4))
    handler = grpc.stream_unary_rpc_method_handler(upload, raw, raw)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Store", {"Upload": handler}),))
    server.add_insecure_port("127.0.0.1:%s" % port)
    server.start()
    server.wait_for_termination()


def main():
    kit6.role("main")
    port = str(kit6.free_port())
    kit6.start([sys.executable, __file__, port], "server")
    call = grpc.insecure_channel("127.0.0.1:" + port).stream_unary("/Store/Upload", raw, raw)
    for lot in range(100):
        parts = queue.Queue()
        answer = call.future(iter(parts.get, None), wait_for_ready=True)
        for k in range(5):
            kit6.crunch(0.05)
            parts.put(b"x" * 1000)
        if lot != 12:
            parts.put(None)
        print("lot", lot, answer.result(), flush=True)


serve(sys.argv[1]) if sys.argv[1:] else main()
