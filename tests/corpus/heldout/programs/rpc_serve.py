"""Ranks call a gRPC service whose handler waits for a note that never comes."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import threading
from concurrent import futures

import grpc

ident = bytes


def serve(p):
    kit.die_with_parent()
    kit.role("server")
    cv = threading.Condition()
    n = [0]

    def reduce(req, ctx):
        with cv:
            n[0] += 1
            if n[0] > 30:
                cv.wait()
        return req
    h = grpc.unary_unary_rpc_method_handler(reduce, request_deserializer=ident, response_serializer=ident)
    s = grpc.server(futures.ThreadPoolExecutor(4))
    s.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("t.Sum", {"Reduce": h}),))
    s.add_insecure_port("127.0.0.1:%d" % p)
    s.start()
    s.wait_for_termination()


def run():
    if kit.rank() == 2:
        return serve(kit.port(4))
    ch = grpc.insecure_channel("127.0.0.1:%d" % kit.port(4))
    grpc.channel_ready_future(ch).result()
    call = ch.unary_unary("/t.Sum/Reduce", request_serializer=ident, response_deserializer=ident)
    for i in range(1000):
        kit.work(0.25)
        call(b"g%d" % i)
        kit.step(i)


kit.go(3, run)
