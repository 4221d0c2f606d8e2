"""A rank that is done closes its context, which waits until its last message has been taken; rank 0 listens again after an evaluation of 50 s."""
import time

import zmq

from kit11 import Hub, crunch, main


def body(rank, n, port):
    hub, context = Hub(rank, n, port), zmq.Context()
    for step in range(30):
        crunch(0.2)
        hub.reduce(1.0)
        if rank == 0:
            print("step %d" % step, flush=True)
    sock = context.socket(zmq.PUSH if rank else zmq.PULL)
    if rank == 0:
        time.sleep(50)
        sock.bind("tcp://127.0.0.1:%d" % (port + 1))
        print("evaluated:", [sock.recv_json() for _ in range(n - 1)], flush=True)
    else:
        sock.connect("tcp://127.0.0.1:%d" % (port + 1))
        sock.send_json({"rank": rank, "accuracy": 0.8})
    sock.close()
    context.term()


main(3, body)
