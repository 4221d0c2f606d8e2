"""One large allocation at once."""
from mem import *
role('main')
steady(3)
print('loading the whole training set', flush=True)
keep = block(900)
steady()
