"""Ranks forked from one parent hand over turns with an mp.Condition; rank 1 opened its input with the wrong order and waits on its own pipe."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import multiprocessing as mp
import signal
import time


def stage(rank, n, turn, cond, feeds):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(n), LOCAL_RANK=str(rank))
    kit.role(f"rank{rank}")
    mine_r, mine_w = feeds[rank]
    for i in range(1000):
        mine_w.send(i)
        with cond:
            cond.wait_for(lambda: turn.value == rank)
        if rank == 1 and i == 7:
            mine_r.recv()           # the warm-up item is read twice
        mine_r.recv()
        time.sleep(0.15)
        with cond:
            turn.value = (rank + 1) % n
            cond.notify_all()
        if rank == 0:
            kit.step(i)


kit.role("launcher")
ctx = mp.get_context("fork")
turn, cond = ctx.Value("i", 0, lock=False), ctx.Condition()
feeds = [ctx.Pipe(duplex=False) for _ in range(3)]
ps = [ctx.Process(target=stage, args=(r, 3, turn, cond, feeds)) for r in range(3)]
for p in ps:
    p.start()
signal.signal(signal.SIGTERM, lambda *_: (kit.end_tree(), os._exit(143)))
for p in ps:
    p.join()
