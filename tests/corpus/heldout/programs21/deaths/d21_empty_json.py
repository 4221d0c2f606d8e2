"""A run takes up the state of the last one, whose file was opened for writing and never written."""
import json

from kitd21 import told

open("trainer_state.json", "w").close()
told(20)
with open("trainer_state.json") as f:
    print("at step", json.load(f)["global_step"])
