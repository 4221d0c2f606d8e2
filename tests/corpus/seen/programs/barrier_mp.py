"""Three forked ranks at an mp.Barrier while one reads a large index slowly."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import multiprocessing as mp
import time


def read_index(path, n):
    with open(path, "rb") as f:
        end = time.time() + n
        while time.time() < end:
            f.seek(0)
            f.read(50000)
            time.sleep(0.1)


def train(rank, gate):
    os.environ.update(RANK=str(rank), WORLD_SIZE="3", LOCAL_RANK=str(rank))
    kit.role(f"rank{rank}")
    kit.services(1)
    for i in range(16):
        time.sleep(0.25)
        if i == 10 and rank == 1:
            read_index(sys.executable, kit.secs(65))
        gate.wait()
        if rank == 0:
            kit.step(i)


kit.role("launcher")
ctx = mp.get_context("fork")
gate = ctx.Barrier(3)
ps = [ctx.Process(target=train, args=(r, gate)) for r in range(3)]
for p in ps:
    p.start()
for p in ps:
    p.join()
sys.exit(any(p.exitcode for p in ps))
