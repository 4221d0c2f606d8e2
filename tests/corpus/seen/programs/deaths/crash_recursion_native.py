"""Recursion limit raised so far that the C stack overflows."""
from job import *

sys.setrecursionlimit(10 ** 9)
threading.stack_size(1 << 18)
import ctypes
fn = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
def f(n):
    return g(n + 1)
g = fn(f)
train(0, 50)
t = threading.Thread(target=f, args=(0,))
t.start()
t.join()
