"""Parent and worker hand an epoch over by two events; the parent forgets to say go."""
import multiprocessing as mp

import kit4


def worker(ready, go):
    kit4.with_parent()
    kit4.role("worker")
    for epoch in range(50):
        go.wait()
        go.clear()
        kit4.crunch(0.4)
        ready.set()


if __name__ == "__main__":
    kit4.role("main")
    context = mp.get_context("fork")
    ready, go = context.Event(), context.Event()
    context.Process(target=worker, args=(ready, go), daemon=True).start()
    for epoch in range(50):
        if epoch % 10 != 9:
            go.set()
        ready.wait()
        ready.clear()
        print("epoch %d done" % epoch, flush=True)
