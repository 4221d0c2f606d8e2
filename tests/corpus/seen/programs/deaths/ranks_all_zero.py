"""All ranks end well, one of them much earlier."""
from job import *

role(f"rank{RANK}")
train(0, 10 + 30 * RANK)
