"""An optimizer is made again from a saved state in which a setting is missing."""
import dataclasses
import json

from kitd24 import steps


@dataclasses.dataclass
class Optimizer:
    rate: float
    betas: tuple
    decay: float = 0.0


steps(20)
saved = json.loads('{"rate": 0.001, "decay": 0.01}')
print(Optimizer(**saved), flush=True)
