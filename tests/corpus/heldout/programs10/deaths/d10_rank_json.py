"""Rank 1 meets a line that is no JSON and leaves by its own word, three seconds after it warned of another thing."""
from kitd10 import *

g = Group(5)
g.steps(5)
if RANK == 1:
    say("WARNING rank 1: 3 samples were longer than 2048 tokens and cut")
g.steps(12, 5)
if RANK == 1:
    json.loads('{"text": "abc", "label": }')
g.steps(100, 17)
