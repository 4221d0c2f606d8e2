"""A learner sends weights by the names of its actors. Actor 2 has started again under a new name; what goes to the old one is dropped."""
import sys

import zmq

import kit8


def act(number, port):
    context = zmq.Context()
    for life in range(2):
        s = context.socket(zmq.DEALER)
        s.linger = 0
        s.setsockopt_string(zmq.IDENTITY, "actor-%d" % number if life == 0 else "actor-%d.%d" % (number, life))
        s.connect("tcp://127.0.0.1:%d" % port)
        for episode in range(10 ** 6):
            s.send_string("rollout %d" % number)
            s.recv()
            kit8.crunch(0.3)
            if (number, life, episode) == (2, 0, 14):
                print("actor 2: environment reset, reconnecting", flush=True)
                break
        s.close()


if sys.argv[1:]:
    act(int(sys.argv[1]), int(sys.argv[2]))
    sys.exit()
kit8.role("main")
port, n = kit8.free_port(), 3
s = zmq.Context().socket(zmq.ROUTER)
s.bind("tcp://127.0.0.1:%d" % port)
for a in range(n):
    kit8.start([sys.executable, __file__, str(a), str(port)], "actor%d" % a)
for update in range(1000):
    for _ in range(n):
        s.recv_multipart()
    for a in range(n):
        s.send_multipart([b"actor-%d" % a, b"w" * 1000])
    print("update %d | mean return %.2f | actors %d" % (update, update * 0.3, n), flush=True)
