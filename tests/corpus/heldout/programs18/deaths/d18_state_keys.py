"""A run is resumed with more classes than its checkpoint has."""
from kitd18 import *

with open("last.json", "w") as f:
    json.dump({"body.weight": [64, 32], "head.weight": [10, 64]}, f)


def load_state(model, path):
    with open(path) as f:
        saved = json.load(f)
    wrong = ["size mismatch for %s: %s in the checkpoint, %s in the model" % (name, saved[name], shape)
             for name, shape in model.items() if saved[name] != shape]
    if wrong:
        raise RuntimeError("error in loading the state:\n    " + "\n    ".join(wrong))


told(20)
load_state({"body.weight": [64, 32], "head.weight": [12, 64]}, "last.json")
told(20, 20)
