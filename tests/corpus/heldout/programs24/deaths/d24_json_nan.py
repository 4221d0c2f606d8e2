"""A summary with a loss that is no number is written as strict JSON."""
import json

from kitd24 import steps

steps(20)
loss = float("inf") - float("inf")
print("epoch 1 done, validation loss %s" % loss, flush=True)
with open("summary.json", "w") as f:
    json.dump({"epoch": 1, "loss": loss}, f, allow_nan=False)
