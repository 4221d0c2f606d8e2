"""Eight ranks: pairs add up by pipes, the even ones by a ring of sockets. Samples are decoded by a codec process of each rank."""
import multiprocessing as mp
import subprocess
import sys

import kit4

pipes = [mp.Pipe() for _ in range(4)]
CODEC = """
import os, sys, time
for line in sys.stdin:
    name = line.strip()
    while name == 'b-00019' and not os.path.exists(name + '.idx'):
        time.sleep(1)
    print(len(name), flush=True)
"""


def train(rank, world, port):
    even = rank % 2 == 0
    mine = pipes[rank // 2][0 if even else 1]
    ring = kit4.Ring(rank // 2, world // 2, port) if even else None
    codec = kit4.start([sys.executable, "-c", CODEC], "codec%d" % rank, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for i in range(200):
        codec.stdin.write("%s-%05d\n" % ("b" if rank == 5 else "a", i))
        codec.stdin.flush()
        n = int(codec.stdout.readline())
        kit4.crunch(0.15)
        if even:
            total = ring.reduce(n + mine.recv())
            mine.send(total)
        else:
            mine.send(n)
            total = mine.recv()
        if rank == 0 and i % 4 == 0:
            print("iter %d tokens %d" % (i, total), flush=True)


kit4.main(8, train, "fork")
