"""Rank 2 has done its work and closes ZeroMQ: a last report is for a collector that was never started, and the context waits to send it."""
import zmq

import kit6


def train(rank, world, port):
    total, context = kit6.Reducer(), zmq.Context()
    for step in range(30):
        kit6.crunch(0.15)
        total.sum(step)
        if rank == 0:
            print("step", step, flush=True)
    if rank == 2:
        s = context.socket(zmq.PUSH)
        s.setsockopt(zmq.LINGER, -1)
        s.connect("tcp://127.0.0.1:%d" % kit6.free_port())
        s.send(b"summary")
        s.close()
    context.term()
    print("rank %d is done" % rank, flush=True)


kit6.reducer(3)
kit6.ranks(3, train)
