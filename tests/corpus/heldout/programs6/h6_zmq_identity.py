"""A worker of a ROUTER came back under a new name after a reset; answers for the old name are dropped without a word."""
import sys

import zmq

import kit6


def route(port):
    s = zmq.Context().socket(zmq.ROUTER)
    s.bind("tcp://127.0.0.1:%s" % port)
    names = {}
    while True:
        who, what, n = s.recv_multipart()
        names.setdefault(n if what == b"hello" else who, who)
        if what == b"hello":
            continue
        s.send_multipart([names[b"actor"], b"weights", n])


def act(port):
    kit6.role("main")
    context = zmq.Context()
    s = context.socket(zmq.DEALER)
    for n in range(100):
        if n in (0, 20):
            s.close(0)
            s = context.socket(zmq.DEALER)
            s.identity = b"actor-%d" % n
            s.connect("tcp://127.0.0.1:%s" % port)
            s.send_multipart([b"hello", b"actor"])
        kit6.crunch(0.15)
        s.send_multipart([b"rollout", b"%d" % n])
        s.recv_multipart()
        print("rollout", n, flush=True)


if sys.argv[1:]:
    route(sys.argv[1])
else:
    port = str(kit6.free_port())
    kit6.start([sys.executable, __file__, port], "router")
    act(port)
