"""Training is over. Worker 2's atexit function joins its queue of uploads, whose thread has given up after an error."""
import atexit
import queue
import threading

import kit8


def upload(items):
    try:
        while True:
            path = items.get()
            kit8.crunch(0.1)
            if path == "ckpt-20":
                raise ConnectionError("bucket not found")
            items.task_done()
    except ConnectionError as error:
        print("upload failed:", error, flush=True)


def train(rank, n, port):
    star, items = kit8.Star(rank, n, port), queue.Queue()
    threading.Thread(target=upload, args=(items,), daemon=True).start()
    atexit.register(items.join)
    for step in range(30):
        kit8.crunch(0.25)
        loss = star.mean(1.0)
        if step % 10 == 0:
            items.put("ckpt-%d" % step if rank == 2 else "log-%d" % rank)
        print("worker %d: step %d/30 loss %.3f" % (rank, step + 1, loss / (step + 1)), flush=True)
    print("worker %d: training finished" % rank, flush=True)


kit8.ranks(3, train, "pos")
