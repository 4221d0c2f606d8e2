"""A library in C looks for its license and leaves the process by itself, without an exception."""
import ctypes

from kitd11 import *

libc = ctypes.CDLL(None)


def check_license():
    libc.dprintf(2, b"solver: no license seat is free (37 of 37 in use)\n")
    libc._exit(17)


role("main")
updates(10)
check_license()
updates(10)
