"""The checkpoint to resume from is an empty file of a full disk's day."""
import pickle

from kitd29 import role, steps


def resume(path):
    print("resuming from %s" % path, flush=True)
    with open(path, "rb") as f:
        return pickle.load(f)


role("main")
open("step-012000.ckpt", "wb").close()
steps(12)
resume("step-012000.ckpt")
