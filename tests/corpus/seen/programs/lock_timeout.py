"""Ranks try a stale lock with a limit of 60 s, then take the slow path."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import multiprocessing as mp
import time


def train(rank, lock, gate):
    os.environ.update(RANK=str(rank), WORLD_SIZE="2", LOCAL_RANK=str(rank))
    kit.role(f"rank{rank}")
    for i in range(12):
        time.sleep(0.25)
        gate.wait()
        if rank == 0:
            kit.step(i)
    if not lock.acquire(timeout=kit.secs(62)):
        print(f"rank {rank}: cache is locked, reading the original", flush=True)
    gate.wait()
    kit.step(13)


kit.role("launcher")
ctx = mp.get_context("fork")
lock, gate = ctx.Lock(), ctx.Barrier(2)
lock.acquire()
ps = [ctx.Process(target=train, args=(r, lock, gate)) for r in range(2)]
for p in ps:
    p.start()
for p in ps:
    p.join()
sys.exit(any(p.exitcode for p in ps))
