import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

def token(table):
    return table["bos_id"]

def build(cfg):
    try:
        return token(cfg)
    except KeyError as e:
        raise ValueError("tokenizer config is not usable") from e

steps(5)
try:
    build({"eos_id": 2})
except ValueError as e:
    raise RuntimeError("could not set up the data pipeline") from e
