"""A checkpoint of an older version lacks a table; the loader tells that as an error of its own, raised from it."""
from kitd27 import role, steps

role("main")
steps(20)
try:
    {"model": 1, "optimizer": 2}["model_ema"]
except KeyError as error:
    raise RuntimeError("could not resume from runs/7/last.ckpt") from error
