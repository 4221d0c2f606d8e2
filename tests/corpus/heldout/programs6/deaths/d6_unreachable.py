from kitd6 import *
import grpc
epochs(4)
with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]
call = grpc.insecure_channel(f"127.0.0.1:{port}").unary_unary("/Features/Get", lambda x: x, lambda x: x)
call(b"user 17", timeout=20)
