"""A module that is not installed."""
from job import *

print("starting trainer", flush=True)
import flash_attention_that_is_not_there
