"""Steady in training, then the validation keeps all logits."""
from mem import *
role('main')
keep = block(120)
fork('logger', lambda: (keep.clear(), steady()))
steady(4)
print('validation', flush=True)
grow(300)
