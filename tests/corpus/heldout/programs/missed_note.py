"""A note of a condition was given before the other side listened; then both wait."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import multiprocessing as mp
import time


def consumer(cv, conn):
    os.environ["RANK"] = "1"
    kit.die_with_parent()
    kit.role("rank1")
    for i in range(16):
        kit.work(0.3)
        conn.send(i)
        kit.step(i)
    time.sleep(1)
    with cv:
        cv.wait()
    conn.send(-1)


if __name__ == "__main__":
    os.environ["RANK"] = "0"
    kit.role("rank0")
    ctx = mp.get_context("fork")
    cv = ctx.Condition()
    a, b = ctx.Pipe()
    p = ctx.Process(target=consumer, args=(cv, b), daemon=True)
    p.start()
    for i in range(16):
        a.recv()
    with cv:
        cv.notify()
    a.recv()
