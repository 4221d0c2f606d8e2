"""A reward is limited by alarm(); the way out that has no answer does not switch it off. The alarm comes while the
training is busy with something else."""
from kitd16 import *


def reward(text):
    signal.alarm(3)
    if not text:
        return 0.0
    value = len(text) / 10
    signal.alarm(0)
    return value


role("main")
for step in range(0, 30, 5):
    told(5, step)
    reward("" if step == 25 else "an answer")
told(100, 30)
