"""A gRPC call has a limit of 66 s; the server does not answer in time, and the client goes on with a default."""
import concurrent.futures as cf
import sys
import time

import grpc

import kit6


def raw(x):
    return x


def serve(port):
    def score(request, context):
        time.sleep(80 if request == b"12" else 0.2)
        return b"0.5"

    server = grpc.server(cf.ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("S", {"C": grpc.unary_unary_rpc_method_handler(score, raw, raw)}),))
    server.add_insecure_port("127.0.0.1:" + port)
    server.start()
    server.wait_for_termination()


def main():
    kit6.role("main")
    port = str(kit6.free_port())
    kit6.start([sys.executable, __file__, port], "server")
    call = grpc.insecure_channel("127.0.0.1:" + port).unary_unary("/S/C", raw, raw)
    for n in range(20):
        try:
            print("score", n, call(b"%d" % n, timeout=66, wait_for_ready=True), flush=True)
        except grpc.RpcError as error:
            print("score", n, "default:", error.code(), flush=True)


serve(sys.argv[1]) if sys.argv[1:] else main()
