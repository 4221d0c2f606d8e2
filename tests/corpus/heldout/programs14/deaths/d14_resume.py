"""A checkpoint lacks a key; the trainer tells that it could not resume, as the cause of which the key is told."""
from kitd14 import *


def load(state):
    return {name: state["model"][name] for name in ("encoder.weight", "decoder.weight")}


told(60)
try:
    load({"model": {"encoder.weight": [0.1], "decoder.weights": [0.2]}})
except KeyError as error:
    raise RuntimeError("could not resume from last.pt") from error
