"""A plugin with a syntax error."""
from job import *

train(0, 2)
exec(compile("def reward(x:\n    return x\n", "plugins/reward.py", "exec"))
