"""Helpers of programs2/deaths, over those of kit2.py: runs of steps, launchers that start ranks, memory that grows."""
import errno
import logging
import mmap
import os
import queue
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback

from kit2 import *         # noqa: F401,F403
import kit2

RANK, WORLD = kit2.RANK, kit2.WORLD


def steps(n, style="plain", begin=0, pause=0.04):
    """Healthy training: n steps with their log lines."""
    for i in range(begin, begin + n):
        kit2.log(i, style)
        time.sleep(pause)


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def start_ranks(n, program, **more):
    """What a launcher does: n ranks of one program, which share its output; each takes the role rankN."""
    port, out = kit2.free_port(), []
    for r in range(n):
        env = dict(os.environ, RANK=str(r), LOCAL_RANK=str(r), WORLD_SIZE=str(n), LOCAL_WORLD_SIZE=str(n),
                   MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), **more)
        out.append(subprocess.Popen([sys.executable, "-u", program, "rank"], env=env))
        kit2.role(f"rank{r}", out[-1].pid)
    return out


def first_failed(ranks):
    while True:
        for r, p in enumerate(ranks):
            if p.poll():
                return r
        if all(p.poll() == 0 for p in ranks):
            return None
        time.sleep(0.02)


def end_all(ranks):
    for p in ranks:
        if p.poll() is None:
            p.terminate()
    for p in ranks:
        p.wait()


def hold(mib):
    """Memory that is really there."""
    data = bytearray(os.urandom(1 << 20))
    data *= mib
    return data


def grow(mib=8, pause=0.1, top=4096):
    """A leak: mib more every pause seconds."""
    kept = []
    while len(kept) * mib < top:
        kept.append(hold(mib))
        time.sleep(pause)
    return kept
