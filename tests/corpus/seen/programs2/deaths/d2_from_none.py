import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

OPT = {"sgd": 1}
def make(name):
    try:
        return OPT[name]
    except KeyError:
        raise ValueError(f"Unknown optimizer '{name}', choose one of: sgd") from None
make("adamw8bit")
