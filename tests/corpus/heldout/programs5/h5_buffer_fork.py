"""A thread writes a trace into a slow pipe by a buffered file; a worker is forked meanwhile and wants to write to the same file."""
import multiprocessing as mp
import os
import sys
import threading
import time

import kit5


def reader():
    kit5.role("tracer")
    while os.read(0, 65536):
        time.sleep(0.5)


def work(trace):
    kit5.with_parent()
    kit5.role("worker")
    trace.write(b"worker begins\n")
    trace.flush()


def main():
    kit5.role("main")
    p = kit5.start([sys.executable, __file__, "reader"], "tracer", stdin=kit5.subprocess.PIPE)
    trace = p.stdin
    for n in range(6):
        kit5.crunch(0.3)
        print("step", n, flush=True)
    threading.Thread(target=lambda: [trace.write(bytes(300_000)) for _ in range(3)], daemon=True).start()
    time.sleep(0.3)
    w = mp.get_context("fork").Process(target=work, args=(trace,))
    w.start()
    w.join()
    print("worker is done", flush=True)


reader() if sys.argv[1:] else main()
