"""A missing key of the configuration is told as a failed training, by "raise ... from"."""
from kitd15 import *

role("main")


def schedule(config, step):
    return config["lr"] * config["warmup_steps"] if step == 70 else config["lr"]


def train(config):
    for step in range(200):
        told(1, step)
        try:
            schedule(config, step)
        except KeyError as e:
            raise RuntimeError("training failed at step %d" % step) from e


train({"lr": 1e-4})
