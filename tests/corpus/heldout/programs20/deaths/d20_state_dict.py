"""Weights that were saved by a wrapped model have another name each than the model of the evaluation has."""
from kitd20 import *


class Model:
    def __init__(self):
        self.state = {name: 0.0 for name in ("encoder.weight", "encoder.bias", "head.weight")}

    def load_state_dict(self, state):
        missing, other = sorted(self.state.keys() - state), sorted(state.keys() - self.state)
        if missing or other:
            raise RuntimeError("Error(s) in loading state_dict for Model:\n\tMissing key(s) in state_dict: %s.\n\t"
                               "Unexpected key(s) in state_dict: %s." % (", ".join(missing), ", ".join(other)))
        self.state.update(state)


told(40)
saved = {"module." + name: 0.1 for name in Model().state}
say("evaluating the best weights")
Model().load_state_dict(saved)
