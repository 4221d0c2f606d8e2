"""Rank 0 builds its kernels by a script that calls a compiler eight times, without a word; the others wait for it in the sum."""
import subprocess
import sys

import kit6

COMPILER = "import time\nend = time.time() + 8\nx = 1.0\nwhile time.time() < end:\n    x = x * 0.99 + 1\n"


def train(rank, world, port):
    total = kit6.Reducer()
    for step in range(30):
        kit6.crunch(0.15)
        if rank == 0 and step == 15:
            open("cc.py", "w").write(COMPILER)
            subprocess.run(["sh", "-c", 'for f in 1 2 3 4 5 6 7 8; do "$0" cc.py; done', sys.executable], check=True)
        total.sum(step)
        if rank == 0:
            print("step", step, flush=True)


kit6.reducer(3)
kit6.ranks(3, train)
