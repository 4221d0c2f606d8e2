import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

steps(15)
def save():
    try:
        raise RuntimeError("PytorchStreamWriter failed writing file data/12: file write failed")
    finally:
        raise RuntimeError("[enforce fail at inline_container.cc:603] . unexpected pos 12352 vs 12246")
save()
