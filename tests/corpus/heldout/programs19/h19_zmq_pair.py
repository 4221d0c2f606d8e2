"""Three ranks send their losses to rank 0 by ZeroMQ at the end of a stage, and wait for its word to go on. The socket
is a PAIR, which has one other end: rank 1 is that, and what rank 2 sends goes nowhere. Rank 0 waits for it.

slow: one socket for each rank, and rank 2 evaluates for 48 s."""
import zmq

from kit19 import SLOW, STEPS, Star, busy, crunch, main, told


def end_of_stage(rank, world, port):
    context = zmq.Context.instance()
    if rank:
        if rank == 2:
            if SLOW:
                busy(48)
            crunch(1.5)
        link = context.socket(zmq.PAIR)
        link.connect("tcp://127.0.0.1:%d" % (port + (10 + rank if SLOW else 10)))
        link.send_json({"rank": rank, "loss": 0.4})
        return link.recv_json()
    doors = [context.socket(zmq.PAIR) for _ in range(world - 1 if SLOW else 1)]
    for k, door in enumerate(doors):
        door.bind("tcp://127.0.0.1:%d" % (port + (11 + k if SLOW else 10)))
    for r in range(1, world):
        doors[(r - 1) % len(doors)].recv_json()
    for r in range(1, world):
        doors[(r - 1) % len(doors)].send_json({"go": r})


def body(rank, world, port):
    star = Star(rank, world, port)
    for step in range(STEPS):
        crunch(0.2)
        star.mean("grad%d" % step, 0.4)
        if rank == 0:
            told(step)
        if step == 40:
            end_of_stage(rank, world, port)


main(3, body)
