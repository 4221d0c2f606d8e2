"""A training asks a service for rewards by gRPC, with a callback for each answer. In the callback of a batch that was
cut it asks for the rest and waits for that answer: the thread that would bring it is the one that runs callbacks.
Main waits for the batch."""
import concurrent.futures
import sys
import threading

import grpc

from kit16 import crunch, free_port, role, start, told


def serve(port):
    def reward(body, context):
        return body[:8]
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(
        "Rewards", {"Score": grpc.unary_unary_rpc_method_handler(reward)}),))
    server.add_insecure_port("127.0.0.1:%d" % port)
    server.start()
    server.wait_for_termination()


def train(port):
    role("main")
    channel = grpc.insecure_channel("127.0.0.1:%d" % port)
    grpc.channel_ready_future(channel).result()
    score = channel.unary_unary("/Rewards/Score")
    for step in range(400):
        crunch(0.18)
        texts, done, rewards = b"x" * (12 if step == 45 else 8), threading.Event(), []

        def answered(call):
            rewards.append(call.result())
            left = texts[len(rewards[0]):]
            if left:
                rewards.append(score.future(left).result())
            done.set()

        score.future(texts).add_done_callback(answered)
        done.wait()
        told(step)


if len(sys.argv) > 1:
    serve(int(sys.argv[1]))
door = free_port()
start([sys.executable, __file__, str(door)], "rewards")
train(door)
