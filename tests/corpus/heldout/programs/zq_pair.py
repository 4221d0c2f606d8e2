"""Two ranks talk by ZeroMQ; after a change of phase both receive."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import zmq

r = kit.rank()


def run():
    z = zmq.Context().socket(zmq.PAIR)
    if r == 0:
        z.bind("tcp://127.0.0.1:%d" % kit.port(3))
    elif r == 1:
        z.connect("tcp://127.0.0.1:%d" % kit.port(3))
    comm = kit.Star()
    for i in range(1000):
        kit.work(0.25)
        turn = i % 2 if i < 15 else 1
        if r < 2:
            if r == turn and i < 15:
                z.send(b"x")
            else:
                z.recv()
        comm.all_reduce(1)
        if r == 0:
            kit.step(i)


kit.go(3, run)
