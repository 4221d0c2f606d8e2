"""Raise from: the cause says why."""
from job import *

train(0, 6)
try:
    open("/data/tokenizer/vocab.bpe")
except OSError as e:
    raise RuntimeError("cannot build the tokenizer") from e
