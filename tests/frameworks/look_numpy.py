"""Multiplies matrices for ever: BLAS with threads of its own below multiply()."""
import numpy


def multiply(a):
    return a @ a


a = numpy.random.default_rng(1).random((600, 600))
multiply(a)
print("begun", flush=True)
while True:
    multiply(a)
