"""A gRPC server that has one call at the beginning and one a minute later."""
import concurrent.futures
import sys
import threading
import time

import grpc

import kit4

calls = threading.Semaphore(0)


def predict(request, context):
    calls.release()
    return request[::-1]


class Handler(grpc.GenericRpcHandler):
    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(predict)


if sys.argv[1:2] == ["client"]:
    call = grpc.insecure_channel("127.0.0.1:" + sys.argv[2]).unary_unary("/m/Predict")
    for wait in (1, 66):
        time.sleep(wait)
        call(b"abc", wait_for_ready=True)
    sys.exit(0)
kit4.role("main")
port = kit4.free_port()
s = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
s.add_generic_rpc_handlers((Handler(),))
s.add_insecure_port("127.0.0.1:%d" % port)
s.start()
print("serving", flush=True)
kit4.start([sys.executable, __file__, "client", str(port)], "client", start_new_session=True)
for _ in range(2):
    calls.acquire()
s.stop(1).wait()
