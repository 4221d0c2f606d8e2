"""A server of parameters waits for the pushes of all four workers; one of worker 2 was too old and dropped, and worker 2 waits for the next version."""
import selectors
import sys
import os

import kit7


def serve(port, world):
    door, poll, pushes, waiting, version = kit7.listen(port), selectors.DefaultSelector(), set(), [], 0
    for _ in range(world):
        poll.register(door.accept()[0], selectors.EVENT_READ)
    while True:
        for key, _ in poll.select():
            worker, base = kit7.receive(key.fileobj)
            waiting.append(key.fileobj)
            if version - base <= 1:
                pushes.add(worker)
        if len(pushes) == world:
            version += 1
            for link in waiting:
                kit7.send(link, version)
            pushes, waiting = set(), []


def train(rank, world, port):
    link, version = kit7.dial(int(os.environ["PS_PORT"])), 0
    for step in range(1000):
        kit7.crunch(0.2)
        kit7.send(link, (rank, version - 2 if rank == 2 and step == 21 else version))
        version = kit7.receive(link)
        with open("worker%d.log" % rank, "a") as log:
            log.write("step %d version %d loss %.3f\n" % (step, version, 2 / (step + 1)))


if sys.argv[1:]:
    serve(int(sys.argv[1]), 4)
if "PS_PORT" not in os.environ:
    os.environ["PS_PORT"] = str(kit7.free_port())
    kit7.start([sys.executable, __file__, os.environ["PS_PORT"]], "ps")
kit7.ranks(4, train, "worker")
