"""Three evaluations share two device slots, a semaphore; two of them were killed from the outside with a slot each."""
import multiprocessing as mp
import os
import signal
import threading

import kit6


def evaluate(k, slots, held):
    kit6.with_parent()
    kit6.role("eval%d" % k)
    for n in range(1000):
        with slots:
            if n == 8 and k < 2:
                held.release()
            kit6.crunch(600 if n == 8 and k < 2 else 0.15)
        print("eval %d: task %d" % (k, n), flush=True)


def memory_watch(procs, held):
    for _ in procs:
        held.acquire()
    for p in procs:
        os.kill(p.pid, signal.SIGKILL)


kit6.role("main")
context = mp.get_context("fork")
slots, held = context.Semaphore(2), context.Semaphore(0)
procs = [context.Process(target=evaluate, args=(k, slots, held)) for k in range(3)]
for p in procs:
    p.start()
threading.Thread(target=memory_watch, args=(procs[:2], held)).start()
procs[2].join()
