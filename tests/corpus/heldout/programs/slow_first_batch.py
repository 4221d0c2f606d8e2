"""Workers that need a minute for their first batch."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import multiprocessing as mp
import time


def fetch_loop(k, inq, outq):
    kit.die_with_parent()
    kit.role("loader%d" % k)
    first = True
    while (j := inq.get()) is not None:
        if first:
            t = time.time() + 60
            while time.time() < t:
                sorted(range(9000), key=lambda v: -v)
                time.sleep(0.03)
            first = False
        outq.put((j, [0.1] * 100))


if __name__ == "__main__":
    kit.role("main")
    inqs = [mp.Queue() for _ in range(2)]
    out = mp.Queue()
    ws = [mp.Process(target=fetch_loop, args=(k, q, out), daemon=True) for k, q in enumerate(inqs)]
    [w.start() for w in ws]
    for j in range(20):
        inqs[j % 2].put(j)
    for j in range(20):
        out.get()
        kit.step(j)
    [q.put(None) for q in inqs]
    [w.join() for w in ws]
