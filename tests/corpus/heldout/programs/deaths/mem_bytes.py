"""One process keeps every batch as bytes."""
from mem import *
role('main')
grow(120)
