"""Sys.exit(-1) is status 255."""
from job import *

train(0, 5)
print("fatal: tokenizer and model disagree on the vocabulary size", flush=True)
sys.exit(-1)
