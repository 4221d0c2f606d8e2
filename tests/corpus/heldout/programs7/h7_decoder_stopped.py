"""Each rank reads frames from a decoder by a pipe. That of rank 3 was stopped by somebody's SIGSTOP."""
import os
import signal
import subprocess
import sys

import kit7


def decode():
    n = 0
    while True:
        kit7.crunch(0.1)
        os.write(1, b"%07d\n" % n)
        n += 1


def train(rank, world, port):
    line = kit7.Line(rank, world, port)
    decoder = kit7.start([sys.executable, __file__, "decode"], "decoder%d" % rank, stdout=subprocess.PIPE)
    for step in range(1000):
        if rank == 3 and step == 25:
            os.kill(decoder.pid, signal.SIGSTOP)
        decoder.stdout.read(8)
        kit7.crunch(0.1)
        line.reduce()
        if rank == 0:
            print("frame batch %d done, psnr %.2f" % (step, 20 + step / 50), flush=True)


if sys.argv[1:]:
    decode()
kit7.ranks(4, train, "worker")
