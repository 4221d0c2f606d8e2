"""Memory that is really there: blocks whose pages are all touched, and growth at a pace."""
from job import *

MIB = 1 << 20


def block(mib):
    data = bytearray(mib * MIB)
    for i in range(0, len(data), 4096):
        data[i] = i & 255 | 1
    return data


def grow(mib_per_s, until=4000, keep=None, each=4):
    keep = [] if keep is None else keep
    begun, n = time.monotonic(), 0
    while n < until:
        keep.append(block(each))
        n += each
        if n % 64 == 0:
            print(f"step {n // 64} loss {2.0 / (1 + n / 100):.4f}", flush=True)
        time.sleep(max(0.0, n / mib_per_s - (time.monotonic() - begun)))


def steady(seconds=60):
    train(0, int(seconds * 10), 0.1)


def shm_file(name, mib):
    path = f"/dev/shm/corpus-{os.getpid()}-{name}"
    with open(path, "wb") as f:
        for _ in range(mib):
            f.write(b"\1" * MIB)
    return path
