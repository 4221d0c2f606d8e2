"""Rank 0 publishes "start of epoch"; who subscribes again after an evaluation may miss it. Results come back by PUSH."""
import zmq

import kit4


def subscribe(context, port):
    s = context.socket(zmq.SUB)
    s.setsockopt(zmq.SUBSCRIBE, b"")
    s.connect("tcp://127.0.0.1:%d" % (port + 1))
    return s


def train(rank, world, port):
    context, hub = zmq.Context(), kit4.Hub(rank, world, port)
    if rank == 0:
        pub, pull = context.socket(zmq.PUB), context.socket(zmq.PULL)
        pub.bind("tcp://127.0.0.1:%d" % (port + 1))
        pull.bind("tcp://127.0.0.1:%d" % (port + 2))
        hub.reduce(0)
        kit4.time.sleep(0.5)
        for epoch in range(100):
            pub.send(b"epoch %d" % epoch)
            for _ in range(world - 1):
                pull.recv()
            print("epoch %d complete" % epoch, flush=True)
    push, sub = context.socket(zmq.PUSH), subscribe(context, port)
    push.connect("tcp://127.0.0.1:%d" % (port + 2))
    hub.reduce(0)
    for epoch in range(100):
        sub.recv()
        kit4.crunch(0.3)
        push.send(b"done")
        if epoch == 9 and rank == 1:
            sub.close()
            kit4.crunch(1)
            sub = subscribe(context, port)


kit4.main(3, train)
