"""An index is out of a vocabulary; the cleanup in "finally" then fails by an attribute that was never set."""
from kitd15 import *

role("main")


class Trainer:
    def __init__(self):
        self.table = list(range(100))

    def fit(self):
        try:
            for step in range(200):
                told(1, step)
                self.table[step + 30]
        finally:
            self.writer.close()


Trainer().fit()
