"""The trainer asks a feature store by gRPC for the next batch while it has one. What comes is filled up by a
second question in the callback of the first: it waits there for a future which only the thread that runs the
callback could end. Until then each batch was full. "slow": all are, and one question takes the store 45 s."""
import sys
import threading
import time
from concurrent import futures

import grpc

from kit13 import SLOW, as_json, me, role, start


def raw(x):
    return x


def store():
    me("store")

    def lookup(request, context):
        if SLOW and request == b"17":
            time.sleep(45)
        return b"row " * (5 if request == b"17" and not SLOW else 8)

    handlers = {"Lookup": grpc.unary_unary_rpc_method_handler(lookup, raw, raw)}
    server = grpc.server(futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Store", handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    threading.Event().wait()


class Batches:
    def __init__(self, port):
        self.channel = grpc.insecure_channel("127.0.0.1:%d" % port)
        self.lookup = self.channel.unary_unary("/Store/Lookup", raw, raw)

    def ask(self, k):
        batch = futures.Future()

        def came(call):
            rows = call.result().split()
            while len(rows) < 8:
                rows += self.lookup.future(b"more").result().split()
            batch.set_result(rows[:8])

        self.lookup.future(b"%d" % k).add_done_callback(came)
        return batch


def main():
    role("main")
    server = start([sys.executable, sys.argv[0], "store", *sys.argv[1:]], "store", stdout=-1)
    batches = Batches(int(server.stdout.readline()))
    coming = batches.ask(0)
    for step in range(40):
        batch, coming = coming.result(), batches.ask(step + 1)
        time.sleep(0.1)
        as_json(step=step, rows=len(batch))
    coming.result()
    batches.channel.close()


if __name__ == "__main__":
    store() if "store" in sys.argv else main()
