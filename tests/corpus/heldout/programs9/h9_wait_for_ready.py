"""A client waits until its server is ready, without a limit. The server listens at another port than the one in its configuration."""
import grpc

import kit9

kit9.role("main")
port = kit9.free_port()
channel = grpc.insecure_channel("127.0.0.1:%d" % port)
call = channel.unary_unary("/Tokenizer/Encode")
for k in range(8):
    kit9.crunch(0.2)
    print("prepared part", k, flush=True)
print("encoding with the service at 127.0.0.1:%d" % port, flush=True)
print("tokens:", len(call(b"a text", wait_for_ready=True)), flush=True)
