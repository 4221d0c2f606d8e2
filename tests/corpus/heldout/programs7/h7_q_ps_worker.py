"""A server of parameters waits for the pushes of all four workers, one of which computes for 63 s; the logs are in files."""
import os
import selectors
import sys

import kit7


def serve(port, world):
    door, poll, waiting = kit7.listen(port), selectors.DefaultSelector(), []
    for _ in range(world):
        poll.register(door.accept()[0], selectors.EVENT_READ)
    while True:
        for key, _ in poll.select():
            try:
                kit7.receive(key.fileobj)
                waiting.append(key.fileobj)
            except (EOFError, OSError):
                poll.unregister(key.fileobj)
        if len(waiting) == world:
            for link in waiting:
                kit7.send(link, 1)
            waiting = []


def train(rank, world, port):
    link = kit7.dial(int(os.environ["PS_PORT"]))
    for step in range(24):
        kit7.crunch(0.2)
        if rank == 3 and step == 12:
            kit7.compute(63)
        kit7.send(link, rank)
        kit7.receive(link)
        with open("worker%d.log" % rank, "a") as log:
            log.write("step %d loss %.3f\n" % (step, 2 / (step + 1)))


if sys.argv[1:]:
    serve(int(sys.argv[1]), 4)
if "PS_PORT" not in os.environ:
    os.environ["PS_PORT"] = str(kit7.free_port())
    kit7.start([sys.executable, __file__, os.environ["PS_PORT"]], "ps")
kit7.ranks(4, train, "worker")
