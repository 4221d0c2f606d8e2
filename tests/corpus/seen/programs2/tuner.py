"""A tuning driver waits in a manager's queue for trials; each of them takes half a minute and says nothing."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import multiprocessing as mp
import signal
import time


def trial(k, out):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    kit.role(f"trial{k}")
    x, end = 0.0, time.time() + kit.secs(24 + 3 * k)
    while time.time() < end:
        x += sum(range(5000)) * 1e-12
        time.sleep(0.03)
    out.put((k, x))


if __name__ == "__main__":
    kit.role("main")
    signal.signal(signal.SIGTERM, lambda *_: (kit.end_tree(), os._exit(143)))
    ctx = mp.get_context("fork")
    with ctx.Manager() as m:
        out = m.Queue()
        for pair in range(3):
            ps = [ctx.Process(target=trial, args=(k, out)) for k in range(2)]
            for p in ps:
                p.start()
            for _ in ps:
                k, x = out.get()
                print(f"trial {pair * 2 + k} finished with loss={1 / (2 + k + pair):.4f}", flush=True)
            for p in ps:
                p.join()
