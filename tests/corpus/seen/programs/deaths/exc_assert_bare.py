"""An assertion without a message: the line is all there is."""
from job import *

train(0, 8)
def check_mask(mask, tokens):
    assert len(mask) == len(tokens)
check_mask([1, 1], [1, 2, 3])
