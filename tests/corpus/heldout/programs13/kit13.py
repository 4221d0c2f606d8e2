"""Helpers of the thirteenth set: those of the fourth (ranks, hubs) and of the twelfth (PyTorch, Ray), a log as
JSON or by logging."""
import json
import logging
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "programs4"), os.path.join(HERE, "..", "programs12")]
import kit12  # noqa: E402
import kit4  # noqa: E402
from kit4 import (Hub, crunch, dial, free_port, libc, listen, main, receive, send, start,  # noqa: E402,F401
                  with_parent)

batch, by_hand, join_group, net, ray_here = kit12.batch, kit12.by_hand, kit12.join_group, kit12.net, kit12.ray_here
spawn, train_step, trainer = kit12.spawn, kit12.train_step, kit12.trainer
SLOW = "slow" in sys.argv


def role(name, pid=None):
    """Here, as Ray's workers import functions by their module, and know this folder only."""
    kit4.role(name, pid)


def me(name):
    """For a process that a shell, or mpiexec, has started."""
    with_parent()
    role(name)


def unlink_shared():
    """MPICH leaves its file in /dev/shm if its ranks are killed; no rank opens it after init."""
    with open("/proc/self/maps") as f:
        paths = {line.split()[-1] for line in f if "/dev/shm/mpich_shm" in line and "(deleted)" not in line}
    for path in paths:
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass


def as_json(**what):
    print(json.dumps({"ts": round(time.time(), 2), **what}), flush=True)


def logger(rank):
    logging.basicConfig(level=logging.INFO, stream=sys.stdout,
                        format="%%(asctime)s [rank %d] %%(levelname)s %%(name)s: %%(message)s" % rank)
    return logging.getLogger("train")


def appear(path, seconds=60):
    """The words of a file, when it is there."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with open(path) as f:
                words = f.read()
            if words.endswith("\n"):
                return words.split()
        except OSError:
            pass
        time.sleep(0.05)
    raise SystemExit(path + " is not there")
