"""A batch of long texts does not fit into the device's memory."""
from kitd22 import told


class OutOfMemoryError(RuntimeError):
    pass


def attention(length):
    need = length * length * 32 * 2 / 2 ** 30
    if need > 15:
        raise OutOfMemoryError("CUDA out of memory. Tried to allocate %.2f GiB. GPU 0 has a total capacity of 79.15 GiB of which 11.31 GiB "
                               "is free. Process has 67.83 GiB memory in use." % need)


for n in range(3):
    told(10, 10 * n)
    attention(8192 * (n + 1))
