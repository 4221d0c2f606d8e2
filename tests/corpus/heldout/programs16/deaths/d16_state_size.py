"""A head of another size is in the checkpoint. Two warnings come before it."""
from kitd16 import *


class Model:
    def __init__(self):
        self.shapes = {"embed.weight": (32000, 64), "head.weight": (11, 64)}

    def load(self, state):
        wrong = ["\tsize mismatch for %s: the checkpoint has %s, the model %s" % (k, state[k], s)
                 for k, s in self.shapes.items() if state[k] != s]
        if wrong:
            raise RuntimeError("cannot load the state of Model:\n" + "\n".join(wrong))


told(20)
say("warning: 3 keys of the checkpoint are not used: ema.decay, ema.step, ema.weight")
say("warning: the optimizer's state is from another version")
Model().load({"embed.weight": (32000, 64), "head.weight": (9, 64)})
