"""Rank 0 has a tool describe the model; on a terminal the tool pages, and waits for a key after each page."""
import os
import sys

import kit5


def describe():
    kit5.role("tool")
    for n in range(60):
        print("layer %d: linear 512x512" % n)
        if n % 24 == 23 and sys.stdout.isatty():
            print("--More--", end="", flush=True)
            os.read(0, 1)


def model_text():
    pid, screen = os.forkpty()
    if pid == 0:
        kit5.with_parent()
        os.execv(sys.executable, [sys.executable, __file__, "describe"])
    text = b""
    while b"layer 59" not in text:
        text += os.read(screen, 1000)
    return text


def train(rank, world, port):
    group = kit5.Butterfly(rank, world, port)
    for step in range(1000):
        kit5.crunch(0.2)
        if rank == 0 and step == 8:
            model_text()
        group.reduce(1)
        if rank == 0:
            print("step", step, flush=True)


describe() if sys.argv[1:] == ["describe"] else kit5.ranks(4, train)
