"""A changelog in the log speaks of a segmentation fault that was fixed."""
from job import *

print("trainer 2.3.1: fixes Segmentation fault (core dumped) in the tokenizer, CUDA out of memory in eval", flush=True)
train(0, 120, 0.005)
raise KeyError("rope_theta")
