"""A MemoryError of an absurd size is handled; a good end."""
from mem import *
role('main')
try:
    bytearray(1 << 60)
except MemoryError as e:
    print('MemoryError: batch size is halved', flush=True)
train(0, 60)
