"""A loader's process, which is a daemon, would start processes of its own for augmentation."""
import multiprocessing

from kitd19 import *

context = multiprocessing.get_context("fork")


def augment(k):
    return k + 1


def load(end):
    try:
        with context.Pool(2) as pool:
            end.send(pool.map(augment, range(8)))
    except Exception as error:
        end.send(error)


told(30)
own, other = context.Pipe()
context.Process(target=load, args=(other,), daemon=True).start()
batch = own.recv()
if isinstance(batch, Exception):
    raise RuntimeError("the loader cannot go on") from batch
told(30, 30)
