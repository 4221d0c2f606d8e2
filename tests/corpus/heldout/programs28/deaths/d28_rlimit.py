"""The address space is limited as by a batch system; a buffer of 4 GiB does not fit."""
import resource

from kitd28 import role, steps

role("main")
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
steps(20)
replay = bytearray(4 << 30)
