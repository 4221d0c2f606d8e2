"""A learner and its actors talk by pipes; weights and trajectories have grown and both sides write first."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import multiprocessing as mp
import signal
import time


def actor(k, conn):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    kit.role(f"actor{k}")
    n = 0
    while True:
        time.sleep(0.4)
        n += 1
        conn.send_bytes(bytes(3 << 20 if k == 2 and n == 18 else 2000))
        conn.recv_bytes()


if __name__ == "__main__":
    kit.role("learner")
    signal.signal(signal.SIGTERM, lambda *_: (kit.end_tree(), os._exit(143)))
    ctx = mp.get_context("fork")
    conns = []
    for k in range(4):
        a, b = ctx.Pipe()
        ctx.Process(target=actor, args=(k, b), daemon=True).start()
        b.close()
        conns.append(a)
    for i in range(1000):
        for c in conns:
            c.send_bytes(bytes(3 << 20 if i == 17 else 2000))
        for c in conns:
            c.recv_bytes()
        print(f"update {i}: policy_loss=-0.0{i % 7}1 return={10 + i * 0.3:.1f}", flush=True)
