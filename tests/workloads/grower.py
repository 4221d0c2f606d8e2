"""Holds more memory each moment, in one place: grow -> take_more. Prints "ready"; begins anew at 400 MB."""
import mmap
import time


def take_more(kept):
    m = mmap.mmap(-1, 4 << 20)
    for at in range(0, 4 << 20, 4096):
        m[at] = 1
    kept.append(m)


def grow():
    kept = []
    while True:
        take_more(kept)
        time.sleep(0.002)
        if len(kept) > 100:
            kept.clear()


print("ready", flush=True)
grow()
