"""A memory fault of an AMD GPU, then SIGABRT."""
from job import *
train(0, 40)
print('Memory access fault by GPU node-1 (Agent handle: 0x5581) on address 0x7f1200000000. Reason: Page not present or supervisor privilege.', file=sys.stderr, flush=True)
os.abort()
