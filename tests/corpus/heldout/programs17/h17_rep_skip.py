"""Two ranks get their augmentations from a service of ZeroMQ (REP). The service leaves a request out that it cannot
parse, without an answer; from then on each of its own recv() fails, as an answer is due, which it notes in a file and
tries again. Both ranks wait for it.

slow: the service builds a table for 48 s before it answers."""
import sys
import time

import zmq
from kit17 import SLOW, Star, busy, crunch, main, start, told, with_parent


def serve(port):
    with_parent()
    socket = zmq.Context().socket(zmq.REP)
    socket.bind("tcp://127.0.0.1:%d" % port)
    with open("service.log", "w") as log:
        while True:
            try:
                words = socket.recv_string().split()
                if not words[1].isdigit():
                    log.write("warning: left out: %r\n" % words)
                    continue
                if SLOW and words[1] == "40":
                    busy(48 if words[0] == "0" else 0)
                socket.send_string("flip %d" % (int(words[1]) % 2))
            except zmq.ZMQError as error:
                log.write("error: %s\n" % error)
                log.flush()
                time.sleep(1)


def body(rank, world, port):
    star = Star(rank, world, port)
    if rank == 0:
        start([sys.executable, __file__, *sys.argv[1:], "serve", str(port + 9)], "server")
    socket = zmq.Context().socket(zmq.REQ)
    socket.connect("tcp://127.0.0.1:%d" % (port + 9))
    for step in range(60 if SLOW else 400):
        crunch(0.2)
        seed = "40.0" if (rank, step) == (1, 40) and not SLOW else str(step)
        socket.send_string("%d %s" % (rank, seed))
        augmentation = socket.recv_string()
        star.mean("grad%d" % step, len(augmentation))
        if rank == 0:
            told(step)


if "serve" in sys.argv:
    serve(int(sys.argv[-1]))
main(2, body, "env")
