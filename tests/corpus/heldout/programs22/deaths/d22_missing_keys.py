"""The weights were saved from a model that was wrapped for several devices, so their names begin with "module."."""
from kitd22 import told


class Encoder:
    names = ["embed.weight", "layer.0.weight", "layer.0.bias"]

    def load_state_dict(self, state):
        missing = [n for n in self.names if n not in state]
        extra = [n for n in state if n not in self.names]
        if missing or extra:
            raise RuntimeError("Error(s) in loading state_dict for Encoder:\n\tMissing key(s) in state_dict: %s.\n"
                               "\tUnexpected key(s) in state_dict: %s." % (", ".join(map(repr, missing)), ", ".join(map(repr, extra))))


told(20)
print("stage 2: loading the best weights of stage 1", flush=True)
Encoder().load_state_dict({"module." + n: [0.0] for n in Encoder.names})
