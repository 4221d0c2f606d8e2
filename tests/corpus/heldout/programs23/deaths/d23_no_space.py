"""The disk is full when a checkpoint is saved."""
import json

from kitd23 import steps


def save(path):
    with open(path, "w") as f:
        json.dump({"weights": [0.5] * 5000}, f)


steps(20)
save("/dev/full")
