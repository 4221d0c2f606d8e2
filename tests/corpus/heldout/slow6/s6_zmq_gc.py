"""Four ranks over ZeroMQ (push to rank 0, which publishes the sum); rank 3 keeps ever more objects and collects garbage each step."""
import gc
import logging
import time

import zmq

import kit6

logging.basicConfig(format="%(asctime)s INFO trainer: %(message)s", level=logging.INFO)


class Star:
    def __init__(self, rank, world, port):
        self.rank, self.world, context = rank, world, zmq.Context.instance()
        self.up = context.socket(zmq.PULL if rank == 0 else zmq.PUSH)
        self.down = context.socket(zmq.PUB if rank == 0 else zmq.SUB)
        if rank == 0:
            self.up.bind("tcp://127.0.0.1:%d" % port)
            self.down.bind("tcp://127.0.0.1:%d" % (port + 1))
        else:
            self.up.connect("tcp://127.0.0.1:%d" % port)
            self.down.connect("tcp://127.0.0.1:%d" % (port + 1))
            self.down.subscribe(b"")
        time.sleep(2)

    def reduce(self, x):
        if self.rank:
            self.up.send_pyobj(x)
            return self.down.recv_pyobj()
        x += sum(self.up.recv_pyobj() for _ in range(self.world - 1))
        self.down.send_pyobj(x)
        return x


def train(rank, world, port):
    group, laps, step, total, cache = Star(rank, world, port), kit6.Laps(rank), 0, 0, []
    while total < kit6.STOP:
        kit6.disk(0.3)
        kit6.work(0.04)
        if rank == 3 and kit6.slow():
            remember(cache)
            end = time.thread_time() + 0.4
            while time.thread_time() < end:
                gc.collect()
        laps.mine()
        total = group.reduce(kit6.vote(rank))
        laps.done()
        step += 1
        if rank == 0:
            logging.info("iteration %d, loss=%.4f, lr=3e-4", step, 3.5 / (1 + step / 60))


def remember(cache):
    if len(cache) < 200000:
        cache.extend({"id": k, "tokens": [k]} for k in range(100000))


kit6.ranks(4, train, "slurm")
