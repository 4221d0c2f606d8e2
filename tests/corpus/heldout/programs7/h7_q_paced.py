"""Four ranks take a batch each 22 s, as the quota of tokens allows; rank 0 has the clock, the others wait for its sum."""
import time

import kit7


def train(rank, world, port):
    line, begin = kit7.Line(rank, world, port), time.time()
    for step in range(4):
        if rank == 0:
            time.sleep(max(0, begin + 22 * step - time.time()))
        kit7.crunch(0.3)
        line.reduce()
        if rank == world - 1:
            kit7.row(step, tokens=step * 4096)


kit7.ranks(4, train)
