"""A rate that is too high: the loss grows until it is nan, and the training stops by its own check."""
import math
import time


class Trainer:
    def __init__(self, rate):
        self.rate, self.weight = rate, 1.0

    def step(self, k):
        try:
            self.weight -= self.rate * 2 * self.weight ** 3
        except OverflowError:
            self.weight = math.nan
        loss = self.weight * self.weight
        if not math.isfinite(loss):
            raise FloatingPointError("loss is nan at step %d, weights are not finite: lower the rate" % k)
        return loss


trainer = Trainer(1.2)
for k in range(100):
    time.sleep(0.4)
    print("step %d loss %.3e" % (k, trainer.step(k)), flush=True)
