"""ZeroMQ: rank 0 publishes the weights of each step, workers push their gradients. Rank 2 changes its topic to one that nobody publishes."""
import time

import zmq

import kit5


def lead(world, port):
    c = zmq.Context()
    pub, pull = c.socket(zmq.PUB), c.socket(zmq.PULL)
    pub.bind("tcp://127.0.0.1:%d" % port)
    pull.bind("tcp://127.0.0.1:%d" % (port + 1))
    for _ in range(world - 1):
        pull.recv()
    time.sleep(3)
    for step in range(1000):
        topic = b"weights/fp16" if step % 2 else b"weights/fp32"
        pub.send_multipart([topic, b"w" * 1000])
        for _ in range(world - 1):
            pull.recv()
        print("step", step, flush=True)


def train(rank, world, port):
    if rank == 0:
        return lead(world, port)
    c = zmq.Context()
    sub, push = c.socket(zmq.SUB), c.socket(zmq.PUSH)
    sub.connect("tcp://127.0.0.1:%d" % port)
    push.connect("tcp://127.0.0.1:%d" % (port + 1))
    sub.subscribe(b"weights")
    push.send(b"hello")
    for step in range(1000):
        if rank == 2 and step == 11:
            sub.unsubscribe(b"weights")
            sub.subscribe(b"weights/bf16")
        sub.recv_multipart()
        kit5.crunch(0.25)
        push.send(b"g")


kit5.ranks(4, train, "slurm")
