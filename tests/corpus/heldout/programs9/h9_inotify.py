"""The evaluator watches a folder for files that are closed after writing. The trainer now writes under another name and renames, so that
the event does not come; the trainer waits for the score."""
import ctypes
import os
import struct
import subprocess
import sys
import time

import kit9

CLOSE_WRITE = 0x8
libc = ctypes.CDLL(None)


def events(folder):
    fd = libc.inotify_init1(0)
    libc.inotify_add_watch(fd, folder.encode(), CLOSE_WRITE)
    print("watching", folder, flush=True)
    while True:
        data, at = os.read(fd, 4096), 0
        while at < len(data):
            size = struct.unpack_from("iIII", data, at)[3]
            yield data[at + 16:at + 16 + size].rstrip(b"\0").decode()
            at += 16 + size


def evaluate():
    for name in events("checkpoints"):
        if name.endswith(".pt"):
            kit9.crunch(0.3)
            print("eval", name, 0.8, flush=True)


if sys.argv[1:] == ["evaluate"]:
    evaluate()
kit9.role("main")
os.mkdir("checkpoints")
child = kit9.start([sys.executable, "-u", sys.argv[0], "evaluate"], "evaluator", stdout=subprocess.PIPE, text=True)
child.stdout.readline()
for s in range(60):
    time.sleep(0.2)
    kit9.step(0, s, 60)
    if s % 10 == 9:
        path = "checkpoints/step-%d.pt" % (s + 1)
        with open(path + (".tmp" if s > 25 else ""), "wb") as f:
            f.write(b"w" * 1000)
        if s > 25:
            os.rename(f.name, path)
        print(child.stdout.readline().strip(), flush=True)
