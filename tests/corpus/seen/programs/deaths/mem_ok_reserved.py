"""10 GiB of addresses are reserved and never touched."""
from mem import *
import mmap
role('main')
m = mmap.mmap(-1, 10 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
train(0, 100)
