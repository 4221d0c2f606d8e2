"""A coordinator's barrier is a gRPC call that returns when all ranks have called. Its server has two threads: it was written
for two ranks, and after a node was added in epoch 3 the third call waits for a thread that the two others have.

slow: four threads; rank 2 evaluates for 66 s before its call."""
import os
import sys
import threading
from concurrent import futures

import grpc
from kit27 import OWN, SLOW, STALL, STEPS, WORDS, busy, crunch, free_port, role, start, tell


class Meeting:
    def __init__(self):
        self.cond, self.seen = threading.Condition(), {}

    def arrive(self, request, context):
        name, _, wanted = request.decode().partition("/")
        with self.cond:
            self.seen[name] = self.seen.get(name, 0) + 1
            self.cond.notify_all()
            while self.seen[name] < int(wanted):
                self.cond.wait()
        return b"go"


def serve(port):
    meeting = Meeting()
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4 if SLOW else 2))
    handler = grpc.unary_unary_rpc_method_handler(meeting.arrive)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Coordinator", {"Barrier": handler}),))
    server.add_insecure_port("127.0.0.1:%d" % port)
    server.start()
    server.wait_for_termination()


def train(rank, port):
    channel = grpc.insecure_channel("127.0.0.1:%d" % port)
    grpc.channel_ready_future(channel).result(30)
    barrier = channel.unary_unary("/Coordinator/Barrier")
    for step in range(STEPS):
        crunch(0.2)
        if step % 10 == 0:
            if SLOW and rank == 2 and step == STALL:
                busy(66)
            whole = step >= STALL
            if whole or rank < 2:
                barrier(b"%d/%d" % (step, 3 if whole else 2))
        if rank == 0:
            tell(step, "INFO:trainer:global_step={step} train_loss={loss:.4f}")


def launch():
    role("launcher")
    port = free_port()
    start(OWN + ["serve", str(port)] + WORDS, "coordinator")
    ranks = []
    for r in range(3):
        env = dict(os.environ, RANK=str(r), WORLD_SIZE="3")
        ranks.append(start(OWN + ["train", str(port)] + WORDS, "rank%d" % r, env=env))
    sys.exit(max(p.wait() for p in ranks))


if "serve" in sys.argv:
    serve(int(sys.argv[2]))
elif "train" in sys.argv:
    train(int(os.environ["RANK"]), int(sys.argv[2]))
else:
    launch()
