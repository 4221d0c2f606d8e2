"""A scheduler of inference answers through a ROUTER; a worker that had an error makes its DEALER anew, and so has another
identity. The prompts for the old one are dropped without a word: worker 1 waits for work, the scheduler for its answer."""
import sys

import zmq
from kit27 import OWN, STALL, STEPS, crunch, free_port, role, start, tell


def connect(context, port, name):
    s = context.socket(zmq.DEALER)
    s.setsockopt(zmq.IDENTITY, name)
    s.connect("tcp://127.0.0.1:%d" % port)
    s.send(b"ready")
    return s


def work(which, port):
    context, life, done = zmq.Context(), 0, 0
    s = connect(context, port, b"w%d.0" % which)
    while True:
        if s.poll(1000):
            s.recv()
            crunch(0.15)
            done += 1
            s.send(b"answer")
            if which == 1 and done == STALL:
                s.close(0)
                life += 1
                s = connect(context, port, b"w%d.%d" % (which, life))


def schedule():
    role("main")
    port = free_port()
    s = zmq.Context().socket(zmq.ROUTER)
    s.bind("tcp://127.0.0.1:%d" % port)
    for which in range(2):
        start(OWN + ["work", str(which), str(port)], "worker%d" % which)
    names = set()
    while len(names) < 2:
        name, _ = s.recv_multipart()
        names.add(name)
    for step in range(STEPS):
        for name in sorted(names):
            s.send_multipart([name, b"prompt %d" % step])
        answers = 0
        while answers < 2:
            _, what = s.recv_multipart()
            answers += what == b"answer"
        tell(step, "batch {step}: 16 prompts, ppl {loss:.2f}")


if "work" in sys.argv:
    work(int(sys.argv[2]), int(sys.argv[3]))
else:
    schedule()
