"""Rank 2 dies of SIGFPE in an extension."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 2:
    default(signal.SIGFPE)
    import ctypes, mmap
    code = mmap.mmap(-1, 4096, prot=7)
    code.write(bytes([0x31, 0xC9, 0x31, 0xD2, 0xB8, 7, 0, 0, 0, 0xF7, 0xF9, 0xC3]))
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
star.train(30, 300)
