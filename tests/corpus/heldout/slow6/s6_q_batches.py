"""Three ranks over ZeroMQ; batches are of like lengths, all ranks' long at one time, and steps take from 0.3 to 0.9 s by the batch."""
import random
import time

import zmq

import kit6


class Pairs:
    """A pair of sockets between rank 0 and each of the others."""

    def __init__(self, rank, world, port):
        context, self.rank = zmq.Context.instance(), rank
        self.links = [context.socket(zmq.PAIR) for _ in range(1 if rank else world - 1)]
        for k, link in enumerate(self.links):
            if rank:
                link.connect("tcp://127.0.0.1:%d" % (port + rank))
            else:
                link.bind("tcp://127.0.0.1:%d" % (port + k + 1))
        time.sleep(1)

    def reduce(self, x):
        if self.rank:
            self.links[0].send_pyobj(x)
            return self.links[0].recv_pyobj()
        x += sum(link.recv_pyobj() for link in self.links)
        for link in self.links:
            link.send_pyobj(x)
        return x


def train(rank, world, port):
    group, laps, step, total, plan = Pairs(rank, world, port), kit6.Laps(rank), 0, 0, random.Random(7)
    while total < kit6.STOP:
        length = plan.choice((256, 384, 512, 768))
        kit6.disk(length / 1000)
        kit6.work(length / 8000)
        laps.mine()
        total = group.reduce(kit6.vote(rank, 180))
        laps.done()
        step += 1
        if rank == 0:
            print("step %d/3000 tokens %d loss %.4f" % (step, length * 32, 3.0 / (1 + step / 55)), flush=True)


kit6.ranks(3, train)
