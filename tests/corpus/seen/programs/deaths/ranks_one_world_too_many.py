"""All ranks refuse the world size."""
from job import *

role(f"rank{RANK}")
assert WORLD == 8, f"this config needs a world size of 8, got {WORLD}"
