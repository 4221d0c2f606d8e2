"""A worker leaks, its parent is large and steady."""
from mem import *
role('main')
keep = block(200)
fork('worker', lambda: (keep.clear(), grow(60)))
steady()
