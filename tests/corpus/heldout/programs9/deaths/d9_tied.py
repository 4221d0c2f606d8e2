from kitd9 import *


def load(model, state):
    for name, shape in model.items():
        if state[name] != shape:
            raise RuntimeError("size mismatch for %s: copying a param with shape %s from checkpoint, the shape in current model is %s" % (name, state[name], shape))


batches(6)
model = {"embed.weight": (32000, 64), "head.weight": (32064, 64)}
try:
    load(model, {"embed.weight": (32000, 64), "head.weight": (32000, 64)})
except RuntimeError as error:
    raise SystemExit("Error(s) in loading state_dict for CausalLM:\n\t%s" % error)
