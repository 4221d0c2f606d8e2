"""A method that the subclass forgot."""
from job import *

class Task:
    def loss(self):
        raise NotImplementedError(f"{type(self).__name__} must implement loss()")
class Ranking(Task):
    pass
train(0, 4)
Ranking().loss()
