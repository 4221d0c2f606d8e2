"""The configuration lacks warmup_steps; what is told last is that no scheduler could be built."""
from kitd29 import role, steps

CONFIG = {"optimizer": {"lr": 3e-4, "betas": [0.9, 0.95]}, "scheduler": {"name": "cosine", "total": 10000}}


class Cosine:
    def __init__(self, options):
        self.warmup, self.total = options["warmup_steps"], options["total"]


def build(options):
    try:
        return Cosine(options)
    except KeyError as error:
        raise RuntimeError("could not build the scheduler %r" % options["name"]) from error


role("main")
steps(15)
build(CONFIG["scheduler"])
