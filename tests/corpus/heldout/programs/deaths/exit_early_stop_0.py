"""Early stopping is a good end."""
from job import *

train(0, 20)
print("early stopping at epoch 3: no improvement, best 0.71")
