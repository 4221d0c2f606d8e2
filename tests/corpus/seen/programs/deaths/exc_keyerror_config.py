"""A key is missing in the configuration."""
from job import *

cfg = {"model": {"width": 512}, "optim": {"lr": 3e-4}}
train(0, 5)
sched = cfg["optim"]["lr_scheduler"]
