"""A learner publishes weights of each round by ZeroMQ, once, and then waits for a gradient of each actor. Actor 1 renews
its subscription every 30 rounds ("sockets leak memory"): what was published in between is lost, and it waits for it.

slow: it keeps its socket; at one round it plays a long game, of 68 s."""
import zmq
from kit27 import SLOW, STALL, STEPS, busy, crunch, main, tell


def learn(world, port):
    context = zmq.Context()
    out, back = context.socket(zmq.PUB), context.socket(zmq.PULL)
    out.bind("tcp://127.0.0.1:%d" % port)
    back.bind("tcp://127.0.0.1:%d" % (port + 1))
    for _ in range(world - 1):
        back.recv_pyobj()
    for step in range(STEPS):
        out.send_pyobj((step, b"w" * 1000))
        crunch(0.15)
        for _ in range(world - 1):
            back.recv_pyobj()
        tell(step, "round {step:>6} | return {loss:.3f} | eps 0.10")
    out.send_pyobj((None, b""))


def subscribe(context, port):
    s = context.socket(zmq.SUB)
    s.setsockopt(zmq.SUBSCRIBE, b"")
    s.connect("tcp://127.0.0.1:%d" % port)
    return s


def play(rank, port):
    context = zmq.Context()
    weights, back = subscribe(context, port), context.socket(zmq.PUSH)
    back.connect("tcp://127.0.0.1:%d" % (port + 1))
    weights.poll(500)
    back.send_pyobj("here")
    while True:
        step, _ = weights.recv_pyobj()
        if step is None:
            return
        crunch(0.1)
        if SLOW and rank == 1 and step == STALL:
            busy(68)
        back.send_pyobj((rank, step))
        if rank == 1 and step == STALL and not SLOW:
            weights.close()
            crunch(0.5)
            weights = subscribe(context, port)


main(3, lambda rank, world, port: learn(world, port) if rank == 0 else play(rank, port))
