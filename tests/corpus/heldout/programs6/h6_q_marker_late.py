"""Ranks look for a marker file each second; a helper of the launcher writes it when it has unpacked the data, after 65 s of work."""
import os
import sys
import time

import kit6


def unpack():
    for part in range(130):
        kit6.compute(0.3)
        time.sleep(0.2)
    open("unpacked.ok", "w").close()


def train(rank, world, port):
    for n in range(10):
        kit6.crunch(0.2)
        print("rank", rank, "loads module", n, flush=True)
    while not os.path.exists("unpacked.ok"):
        time.sleep(1)
    print("rank", rank, "trains", flush=True)


if sys.argv[1:] and "RANK" not in os.environ:
    unpack()
else:
    if "RANK" not in os.environ:
        kit6.start([sys.executable, __file__, "unpack"], "unpacker")
    kit6.ranks(3, train)
