"""Three ranks over unix sockets, each with a loading process behind a queue; the disk of rank 1's loader becomes slow."""
import multiprocessing
import sys

from tqdm import tqdm

import kit6


def load(queue, rank):
    kit6.with_parent()
    kit6.role("loader%d" % rank)
    while True:
        for _ in range(8):
            read_sample(0.13 if rank == 1 and kit6.slow() else 0.035)
        queue.put(bytes(4096))


def read_sample(seconds):
    kit6.disk(seconds)


def train(rank, world, port):
    group, queue = kit6.Mesh(rank, world), multiprocessing.Queue(3)
    multiprocessing.Process(target=load, args=(queue, rank), daemon=True).start()
    laps, total = kit6.Laps(rank), 0
    bar = tqdm(range(5000), desc="rank %d" % rank, position=0, file=sys.stderr, mininterval=1)
    for _ in bar:
        queue.get()
        kit6.work(0.06)
        laps.mine()
        total = group.reduce(kit6.vote(rank))
        laps.done()
        if total >= kit6.STOP:
            break


kit6.ranks(3, train)
