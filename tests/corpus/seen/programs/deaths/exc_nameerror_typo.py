"""A name that only the evaluation uses is misspelt."""
from job import *

train(0, 20)
def evaluate():
    return validaton_loader
evaluate()
