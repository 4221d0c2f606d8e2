"""The loader's thread finds a record without masks, and ends; the trainer hears nothing more and gives up after 3 s."""
from kitd19 import *


def load(batches):
    for k in range(1000):
        record = {"image": k} if k == 40 else {"image": k, "masks": [k]}
        batches.put((record["image"], record["masks"]))


batches = queue.Queue(2)
threading.Thread(target=load, args=(batches,), daemon=True, name="loader").start()
for step in range(1000):
    image, masks = batches.get(timeout=3)
    told(1, step)
