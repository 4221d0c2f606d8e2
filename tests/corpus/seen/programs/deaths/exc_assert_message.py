"""An assertion with a message."""
from job import *

train(0, 8)
vocab, top = 32000, 32003
assert top < vocab, f"token id {top} is outside of the vocabulary of {vocab}"
