from kitd7 import *
import multiprocessing


def load(out):
    role("loader")
    for n in range(10**6):
        out.put(n)
        time.sleep(0.1)


out = multiprocessing.Queue()
child = multiprocessing.get_context("fork").Process(target=load, args=(out,))
child.start()
while True:
    try:
        print("batch", out.get(timeout=1), flush=True)
    except queue.Empty:
        raise RuntimeError("loader (pid %d) exited unexpectedly with %s" % (child.pid, child.exitcode)) from None
