"""Rank 2 runs a tokenizer as a child and waits for its end before it reads the output."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import subprocess
import sys
import time

CODE = "import sys\nfor i in range(200000): print('token', i)\n"


def encode(n):
    p = subprocess.Popen([sys.executable, "-c", CODE if n > 12 else "print('token')"], stdout=subprocess.PIPE)
    kit.role("tokenizer2", p.pid)
    p.wait()
    return p.stdout.read()


def run():
    kit.services(2)
    group = kit.Star()
    for i in range(1000):
        time.sleep(0.2)
        if kit.RANK == 2 and i % 7 == 6:
            encode(i)
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)


kit.main(4, run)
