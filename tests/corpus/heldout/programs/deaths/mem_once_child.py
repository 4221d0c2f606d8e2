"""A child makes one large allocation at once."""
from mem import *
role('main')
keep = block(100)
def evaluate():
    steady(2)
    big = block(800)
    steady()
fork('evaluate', evaluate)
steady()
