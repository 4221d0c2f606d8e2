"""A decoder writes a frame into a FIFO each 21 s; rank 0 reads it and the others wait for rank 0."""
import os
import sys
import time

import kit5


def decode():
    with open("frames.fifo", "w") as out:
        for n in range(4):
            time.sleep(21)
            print("frame", n, file=out, flush=True)


def train(rank, world, port):
    group = kit5.Butterfly(rank, world, port)
    frames = open("frames.fifo") if rank == 0 else None
    for step in range(4):
        if rank == 0:
            frames.readline()
        group.reduce(1)
        print("rank", rank, "step", step, flush=True)


if sys.argv[1:] == ["decode"]:
    decode()
else:
    if "RANK" not in os.environ:
        os.mkfifo("frames.fifo")
        kit5.start([sys.executable, __file__, "decode"], "decoder")
    kit5.ranks(4, train)
