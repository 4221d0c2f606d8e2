"""A learner polls its actors with a limit of 33 s; between two of their episodes nobody sends for 66 s."""
import sys
import time

import zmq

import kit6


def act(port):
    s = zmq.Context().socket(zmq.PUSH)
    s.connect("tcp://127.0.0.1:" + port)
    for n in range(15):
        time.sleep(70 if n == 10 else 0.3)
        s.send(b"episode %d" % n)


def learn(port):
    kit6.role("main")
    s = zmq.Context().socket(zmq.PULL)
    s.bind("tcp://127.0.0.1:" + port)
    kit6.start([sys.executable, __file__, port], "actor")
    n = 0
    while n < 15:
        if s.poll(33000):
            print(s.recv(), flush=True)
            n += 1


act(sys.argv[1]) if sys.argv[1:] else learn(str(kit6.free_port()))
