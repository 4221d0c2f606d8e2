import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

steps(10)
class RayTaskError(Exception): pass
RayTaskError.__module__ = "ray.exceptions"
raise RayTaskError("""[36mray::Trainer.fit()[39m (pid=81231, ip=10.0.0.7, actor_id=31fd, repr=<train.Trainer object>)
  File "/workspace/train.py", line 88, in fit
    self.loop()
  File "/workspace/train.py", line 61, in loop
    batch = next(self.batches)
ZeroDivisionError: float division by zero in the learning rate schedule""")
