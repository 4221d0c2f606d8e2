"""Tuning: a manager gives out trials of 30 s to two workers; the driver only waits for them."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import multiprocessing as mp
import time


def trial(n, todo, out):
    kit.role(f"worker{n}")
    while True:
        t = todo.get()
        if t is None:
            return
        end, x = time.time() + kit.secs(32), 0
        while time.time() < end:
            x += sum(range(3000))
            time.sleep(0.05)
        out.put((n, t))


kit.role("driver")
ctx = mp.get_context("fork")
todo, out = ctx.Queue(), ctx.Queue()
ws = [ctx.Process(target=trial, args=(n, todo, out)) for n in (0, 1)]
for p in ws:
    p.start()
for t in range(4):
    todo.put(t)
for t in range(4):
    print("trial", out.get(), flush=True)
for p in ws:
    todo.put(None)
for p in ws:
    p.join()
