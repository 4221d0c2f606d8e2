"""A segfault close below the limit."""
from mem import *
import ctypes
role('main')
keep = block(320)
train(0, 60)
ctypes.string_at(0)
