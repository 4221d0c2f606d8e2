"""There is no more room for a checkpoint."""
from kitd14 import *


def save(step):
    with open("/dev/full", "wb") as f:
        f.write(bytes(1 << 20))


told(60)
print("saving checkpoint at step 60", flush=True)
save(60)
