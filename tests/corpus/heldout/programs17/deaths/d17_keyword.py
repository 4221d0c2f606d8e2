"""A setting has a name that the class of settings does not know."""
import dataclasses

from kitd17 import *


@dataclasses.dataclass
class Schedule:
    rate: float = 2e-4
    warmup_steps: int = 100


told(20)
say("info: the second stage begins, schedule: cosine")
Schedule(**{"rate": 1e-4, "warmup_ratio": 0.03})
