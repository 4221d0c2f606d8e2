"""Two ranks ask a server of samples by ZeroMQ (REQ, REP). The server catches the error of a bad sample and goes to its next recv
without an answer - by a DEALER's envelope it may. Rank 1 waits for its sample, rank 0 for rank 1.

slow: the sample is decoded for 66 s."""
import pickle
import sys
import time

import zmq

from kit28 import SLOW, STALL, STEPS, Star, compute, main, part, tell


def serve(port):
    router = zmq.Context().socket(zmq.ROUTER)
    router.bind("tcp://127.0.0.1:%s" % port)
    while True:
        who, _, asked = router.recv_multipart()
        rank, step = pickle.loads(asked)
        try:
            if rank == 1 and step == STALL:
                if not SLOW:
                    raise OSError("cannot identify image file")
                time.sleep(66)
            router.send_multipart([who, b"", b"sample"])
        except OSError:
            continue


def body(rank, world, port):
    star = Star(rank, world)
    if rank == 0:
        part("samples", port)
    ask = zmq.Context().socket(zmq.REQ)
    ask.connect("tcp://127.0.0.1:%d" % port)
    for step in range(STEPS):
        ask.send(pickle.dumps((rank, step)))
        ask.recv()
        compute()
        star.mean("grad/%d" % step, 0.5)
        if rank == 0:
            tell(step, "epoch")


if "samples" in sys.argv:
    serve(sys.argv[2])
else:
    main(2, body)
