"""Main watches a folder for the next checkpoint of a trainer elsewhere, which comes after 62 s."""
import ctypes
import os
import sys
import time

import kit9

libc = ctypes.CDLL(None)


def train(folder):
    for k in range(20):
        time.sleep(62 if k == 10 else 0.4)
        with open(folder + "/step-%d.pt" % k, "w") as f:
            f.write("weights")


if sys.argv[1:2] == ["train"]:
    train(sys.argv[2])
    sys.exit(0)
kit9.role("main")
os.mkdir("checkpoints")
fd = libc.inotify_init1(0)
libc.inotify_add_watch(fd, b"checkpoints", 0x8)
kit9.start([sys.executable, sys.argv[0], "train", "checkpoints"], "trainer")
seen = 0
while seen < 20:
    os.read(fd, 4096)
    for name in sorted(os.listdir("checkpoints")):
        print("evaluated", name, flush=True)
        os.rename("checkpoints/" + name, name)
        seen += 1
