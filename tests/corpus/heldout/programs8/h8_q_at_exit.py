"""Training is over. Worker 2's atexit function joins its queue of uploads, which take 2 s a part for 64 s."""
import atexit
import queue
import threading
import time

import kit8


def upload(items):
    while True:
        path = items.get()
        with open(path, "wb") as f:
            for _ in range(32 if "ckpt" in path else 0):
                f.write(b"w" * 65536)
                f.flush()
                time.sleep(2)
        items.task_done()


def train(rank, n, port):
    star, items = kit8.Star(rank, n, port), queue.Queue()
    threading.Thread(target=upload, args=(items,), daemon=True).start()
    atexit.register(items.join)
    for step in range(30):
        kit8.crunch(0.25)
        loss = star.mean(1.0)
        if step == 28:
            items.put("ckpt-28" if rank == 2 else "log-%d" % rank)
        print("worker %d: step %d/30 loss %.3f" % (rank, step + 1, loss / (step + 1)), flush=True)
    print("worker %d: training finished" % rank, flush=True)


kit8.ranks(3, train, "pos")
