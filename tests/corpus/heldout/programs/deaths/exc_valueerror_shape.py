"""Two shapes do not fit."""
from job import *

def matmul(a, b):
    if a[1] != b[0]:
        raise ValueError(f"shapes {a} and {b} not aligned: {a[1]} (dim 1) != {b[0]} (dim 0)")
train(0, 3)
matmul((32, 512), (768, 10))
