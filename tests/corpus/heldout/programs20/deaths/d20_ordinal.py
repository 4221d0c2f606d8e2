"""Three ranks on a machine of two devices: rank 2 takes the device of its number when it begins to use one."""
from kitd20 import *

DEVICES = 2


def set_device(number):
    if number >= DEVICES:
        raise RuntimeError("CUDA error: invalid device ordinal (device %d of %d)" % (number, DEVICES))


ranks = Ranks()
for k in range(100):
    ranks.step(k)
    if k == 20:
        set_device(int(os.environ["LOCAL_RANK"]))
