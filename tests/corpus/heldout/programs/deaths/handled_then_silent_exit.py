"""An error was handled long ago; the end itself says nothing."""
from job import *

import traceback
train(0, 5)
try:
    raise TimeoutError("shard 7 took too long")
except TimeoutError:
    traceback.print_exc()
    print("shard 7 is skipped", flush=True)
train(5, 305, 0.003)
os._exit(17)
