"""A training asks a service by gRPC to judge a whole epoch: the answer takes 50 s of work."""
import concurrent.futures
import sys

import grpc

from kit16 import compute, crunch, free_port, role, start, told


def serve(port):
    def judge(body, context):
        compute(50 if body == b"epoch" else 0.01)
        return b"0.7"
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(
        "Rewards", {"Judge": grpc.unary_unary_rpc_method_handler(judge)}),))
    server.add_insecure_port("127.0.0.1:%d" % port)
    server.start()
    server.wait_for_termination()


def train(port):
    role("main")
    service = start([sys.executable, __file__, str(port)], "rewards")
    channel = grpc.insecure_channel("127.0.0.1:%d" % port)
    grpc.channel_ready_future(channel).result()
    judge = channel.unary_unary("/Rewards/Judge")
    for step in range(50):
        crunch(0.2)
        judge.future(b"epoch" if step == 35 else b"step").result()
        told(step)
    service.kill()
    service.wait()


if len(sys.argv) > 1:
    serve(int(sys.argv[1]))
train(free_port())
