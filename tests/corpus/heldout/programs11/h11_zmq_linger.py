"""Metrics go by PUSH to rank 0, which ends with its last step. Rank 2 is later by an evaluation and sends its result to nobody: with the endless
linger of the library its context cannot be closed."""
import time

import zmq

from kit11 import Hub, crunch, main


def body(rank, n, port):
    hub, context = Hub(rank, n, port), zmq.Context()
    sock = context.socket(zmq.PULL if rank == 0 else zmq.PUSH)
    if rank == 0:
        sock.bind("tcp://127.0.0.1:%d" % (port + 1))
    else:
        sock.connect("tcp://127.0.0.1:%d" % (port + 1))
    for step in range(40):
        crunch(0.15)
        hub.reduce(1.0)
        if rank:
            sock.send_json({"rank": rank, "step": step})
        else:
            got = [sock.recv_json() for _ in range(n - 1)]
            print("step %d, metrics of %s" % (step, sorted(m["rank"] for m in got)), flush=True)
    if rank == 2:
        time.sleep(2)
        sock.send_json({"rank": rank, "eval": 0.81})
    sock.close()
    context.term()
    print("rank %d done" % rank, flush=True)


main(3, body)
