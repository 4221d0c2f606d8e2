"""A broken image was skipped long ago, with its traceback in the log; the last batch has one row, which is too few."""
from kitd14 import *


def decode(k):
    if k == 20:
        raise OSError("cannot identify image file 'cat_0020.jpg'")


def normalize(rows):
    if len(rows) < 2:
        raise ValueError("Expected more than 1 value per channel when training, got input size [1, 512]")


for k in range(70):
    try:
        decode(k)
    except OSError:
        traceback.print_exc()
        print("skipped", flush=True)
    normalize([0] * (1 if k == 69 else 32))
    told(1, k)
