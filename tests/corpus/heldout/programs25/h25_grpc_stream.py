"""Two ranks; rank 1 has its samples scored by a service of gRPC, by a stream in both directions. The service answers each
batch of four at once, until a sample is marked as the first of a document: then it collects the whole document, and answers
at the stream's end. Rank 1 waits for the score before it sends the next.

slow: there is no document, one score takes 76 s."""
import queue
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import grpc

from kit25 import OWN, SLOW, STALL, STEPS, Log, Model, Star, main, start


def score(requests, context):
    for request in requests:
        if request == b"document":
            if SLOW:
                time.sleep(76)
            else:
                parts = [request, *requests]
                yield b"%d" % len(parts)
                continue
        yield b"0.5"


def serve(port):
    server = grpc.server(ThreadPoolExecutor(4))
    handler = grpc.stream_stream_rpc_method_handler(score)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Scorer", {"Score": handler}),))
    server.add_insecure_port("127.0.0.1:%d" % port)
    server.start()
    server.wait_for_termination()


class Scorer:
    def __init__(self, port):
        self.samples = queue.Queue()
        channel = grpc.insecure_channel("127.0.0.1:%d" % port)
        grpc.channel_ready_future(channel).result()
        self.scores = channel.stream_stream("/Scorer/Score")(iter(self.samples.get, None))

    def score(self, sample):
        self.samples.put(sample)
        return float(next(self.scores))


def body(rank, world, port):
    if rank == 1:
        start(OWN + ["serve", str(port)] + sys.argv[1:], "scorer")
        scorer = Scorer(port)
    star, model, log = Star(rank, world), Model(rank), Log("json")
    for step in range(STEPS):
        if rank == 1:
            scorer.score(b"document" if step == STALL else b"line")
        model.step(star.mean("gradient %d" % step, model.backward()))
        if rank == 0:
            log(step, model.loss)


if "serve" in sys.argv:
    serve(int(sys.argv[2]))
else:
    main(2, body)
