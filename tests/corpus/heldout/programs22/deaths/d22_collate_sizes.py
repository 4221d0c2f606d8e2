"""A loading process makes batches of texts that have not been padded to one length. Its error is told again by the training."""
import multiprocessing
import time
import traceback

from kitd22 import role


class WorkerError(Exception):
    pass


def stack(rows):
    sizes = [len(r) for r in rows]
    if len(set(sizes)) > 1:
        raise ValueError("stack expects each row to be equal size, but got [%d] at entry 0 and [%d] at entry 3" % (sizes[0], sizes[3]))
    return rows


def load(batches):
    role("loader")
    for k in range(100):
        try:
            batches.put(stack([[0] * 128, [0] * 128, [0] * 128, [0] * (128 if k < 25 else 97)]))
        except ValueError:
            batches.put(traceback.format_exc())


role("main")
batches = multiprocessing.get_context("fork").Queue(2)
multiprocessing.get_context("fork").Process(target=load, args=(batches,), daemon=True).start()
for k in range(100):
    batch = batches.get()
    if isinstance(batch, str):
        raise WorkerError("Caught an error in loading process 0.\nOriginal " + batch)
    time.sleep(0.1)
    if k % 5 == 0:
        print("step %d loss %.4f" % (k, 2.0 / (1 + k)), flush=True)
