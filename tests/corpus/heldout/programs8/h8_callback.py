"""Worker 1 saves in a thread; the callback that tells of the end has failed, which the executor only logs."""
import threading
from concurrent.futures import ThreadPoolExecutor

import kit8


def save(step):
    with open("model-%d.json" % step, "w") as f:
        f.write("{}")
    return None if step == 20 else {"path": f.name}


def train(rank, n, port):
    star, pool = kit8.Star(rank, n, port), ThreadPoolExecutor(1)
    for step in range(1000):
        kit8.crunch(0.25)
        loss = star.mean(1.0)
        if rank == 1 and step % 10 == 0:
            saved = threading.Event()

            def told(future):
                print("saved", future.result()["path"], flush=True)
                saved.set()

            pool.submit(save, step).add_done_callback(told)
            saved.wait()
        if rank == 0:
            print("step %4d   loss %.4f   lr 1.0e-04" % (step, loss), flush=True)


kit8.ranks(3, train)
