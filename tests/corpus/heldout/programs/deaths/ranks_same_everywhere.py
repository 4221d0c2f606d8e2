"""All ranks fail of the same missing file."""
from job import *

role(f"rank{RANK}")
train(0, 10)
open("/configs/model-7b.yaml")
