"""A rate that was written as 1e-4 in a file of settings and came as text."""
from kitd22 import told

settings = {"rate": "1e-4", "warmup": 20}


class Schedule:
    def __init__(self, base):
        self.base = base

    def rate(self, step):
        return 1e-6 if step < settings["warmup"] else min(self.base, 0.1)


told(20)
print(Schedule(settings["rate"]).rate(20), flush=True)
