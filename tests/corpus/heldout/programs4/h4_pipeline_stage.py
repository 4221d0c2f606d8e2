"""Pipeline parallel: four stages by multiprocessing pipes, backwards through others. Stage 2 skips an empty micro-batch."""
import multiprocessing as mp

import kit4

forward = [mp.Pipe() for _ in range(3)]
backward = [mp.Pipe() for _ in range(3)]


def train(rank, world, port):
    log = open("stage%d.txt" % rank, "w", 1)
    for step in range(1000):
        for micro in range(3):
            x = [1.0] * 10 if rank == 0 else forward[rank - 1][1].recv()
            kit4.crunch(0.06)
            if rank < world - 1:
                if rank == 2 and step == 9 and micro == 1:
                    continue
                forward[rank][0].send([] if rank == 1 and step == 9 and micro == 1 else x)
        for micro in range(3):
            if rank < world - 1:
                backward[rank][1].recv()
            if rank:
                backward[rank - 1][0].send(0.5)
        log.write("step %d\n" % step)


kit4.main(4, train, "fork")
