"""A script that limits its address space; a batch of another resolution needs more."""
import resource

from kitd27 import role, steps

role("main")
resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))
steps(25)


def upsample(side):
    return bytearray(side * side * 3)


upsample(20480)
