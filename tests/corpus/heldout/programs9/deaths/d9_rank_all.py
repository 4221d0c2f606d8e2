from kitd9 import *

g = Group(2)
g.steps(8)
schedule = {"type": "cosine", "warmup": 100}
raise ValueError("scheduler type 'cosine' needs num_training_steps, got None in %s" % sorted(schedule))
