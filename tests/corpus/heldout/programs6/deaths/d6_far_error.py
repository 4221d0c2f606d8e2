from kitd6 import *
import concurrent.futures as cf
import grpc
def get(request, context):
    return {"user 1": b"0.5"}[request.decode()]
server = grpc.server(cf.ThreadPoolExecutor(2))
same = lambda x: x   # noqa: E731
server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("F", {"Get": grpc.unary_unary_rpc_method_handler(get, same, same)}),))
port = server.add_insecure_port("127.0.0.1:0")
server.start()
call = grpc.insecure_channel(f"127.0.0.1:{port}").unary_unary("/F/Get", same, same)
logging.disable(logging.CRITICAL)
for n in range(6):
    call(b"user 1")
    epochs(1, n + 1)
call(b"user 17")
