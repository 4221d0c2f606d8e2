"""A service with one thread asks itself for a part of an answer; its client has no time limit (slow: it computes)."""
import concurrent.futures
import sys

import grpc

from kit26 import OWN, SLOW, STALL, crunch, role, say, start

PATH = "/score.Score/"


class Score(grpc.GenericRpcHandler):
    def __init__(self, port):
        self.own = grpc.insecure_channel("127.0.0.1:%d" % port)

    def service(self, call):
        return grpc.unary_unary_rpc_method_handler(self.embed if call.method.endswith("embed") else self.score)

    def embed(self, text, _):
        crunch(0.02)
        return text[:8]

    def score(self, text, _):
        if text == b"document %d" % STALL:
            if SLOW:
                crunch(66)
            else:
                return self.own.unary_unary(PATH + "embed")(text)
        return self.embed(text, _)


def serve():
    role("server")
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(1))
    port = server.add_insecure_port("127.0.0.1:0")
    server.add_generic_rpc_handlers([Score(port)])
    server.start()
    say(port)
    server.wait_for_termination()


def rank_documents():
    import subprocess
    role("main")
    server = start([*OWN, "server", *(["slow"] if SLOW else [])], stdout=subprocess.PIPE, text=True)
    ask = grpc.insecure_channel("127.0.0.1:%d" % int(server.stdout.readline())).unary_unary(PATH + "score")
    for k in range(STALL + 30):
        crunch(0.3)
        ask(b"document %d" % k)
        if k % 5 == 0:
            say("%d of 1000 documents" % k)
    server.terminate()


serve() if "server" in sys.argv else rank_documents()
