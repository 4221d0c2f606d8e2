"""The trainer asks a feature store by gRPC, and so does its loader, a forked process which has the trainer's channel: its
call never gets an answer, as the threads of the library are in the trainer only. "slow": the loader has a channel of
its own, and one question takes the store 45 s."""
import multiprocessing
import os
import sys
import threading
import time
from concurrent import futures

import grpc

from kit13 import SLOW, as_json, me, role, start, with_parent


def raw(x):
    return x


def store():
    me("store")

    def lookup(request, context):
        if SLOW and request == b"17":
            time.sleep(45)
        return b"row " + request

    handlers = {"Lookup": grpc.unary_unary_rpc_method_handler(lookup, raw, raw)}
    server = grpc.server(futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Store", handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    threading.Event().wait()


def stub(port):
    return grpc.insecure_channel("127.0.0.1:%d" % port).unary_unary("/Store/Lookup", raw, raw)


def loader(lookup, port, rows):
    with_parent()
    role("loader")
    if SLOW:
        lookup = stub(port)
    for i in range(40):
        rows.send(lookup(b"%d" % i))


def main():
    role("main")
    os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
    server = start([sys.executable, *sys.argv, "store"], "store", stdout=-1)
    port = int(server.stdout.readline())
    lookup = stub(port)
    as_json(event="schema", value=lookup(b"schema").decode())
    mine, its = multiprocessing.get_context("fork").Pipe(False)
    child = multiprocessing.get_context("fork").Process(target=loader, args=(lookup, port, its), daemon=True)
    child.start()
    its.close()
    for step in range(40):
        row = mine.recv()
        time.sleep(0.1)
        as_json(step=step, bytes=len(row))
    child.join()


if __name__ == "__main__":
    store() if sys.argv[-1] == "store" else main()
