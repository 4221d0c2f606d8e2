"""A worker of a pool decodes a broken image with a library in C, and crashes; main tells of the pool only."""
import ctypes
from concurrent.futures import ProcessPoolExecutor

from kitd25 import role, steps


def decode(i):
    return ctypes.string_at(8) if i == 30 else i


if __name__ == "__main__":
    role("main")
    steps(10)
    with ProcessPoolExecutor(2) as pool:
        print(sum(map(bool, pool.map(decode, range(40)))))
