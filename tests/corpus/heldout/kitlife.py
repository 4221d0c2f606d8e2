"""Helpers of programs3/deaths: roles, steps in the log, ranks that a launcher starts, memory that grows, a sender of signals."""
import ctypes
import json
import logging
import math
import mmap
import os
import queue
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

RANK = int(os.environ.get("RANK", os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("SLURM_PROCID", "-1"))))


def role(name, pid=None):
    path = os.environ.get("CORPUS_ROLES")
    if path:
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(fd, f"{name} {pid or os.getpid()}\n".encode())
        os.close(fd)


def steps(n, begin=0, pause=0.05):
    for i in range(begin, begin + n):
        print(f"[{time.strftime('%H:%M:%S')}] iter {i:>5} | loss {3.1 * math.exp(-i / 60):.4f} | lr 2.0e-04 | 118.2 samples/s", flush=True)
        time.sleep(pause)


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def launch(n, program, how, **more):
    """Ranks as children, told by the environment: how is 'env' (RANK), 'ompi' or 'slurm'."""
    out = []
    for r in range(n):
        own = {"env": {"RANK": r, "LOCAL_RANK": r, "WORLD_SIZE": n, "LOCAL_WORLD_SIZE": n, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": 29511},
               "ompi": {"OMPI_COMM_WORLD_RANK": r, "OMPI_COMM_WORLD_SIZE": n, "OMPI_COMM_WORLD_LOCAL_RANK": r},
               "slurm": {"SLURM_PROCID": r, "SLURM_NTASKS": n, "SLURM_LOCALID": r, "SLURM_JOB_ID": 90211, "SLURM_STEP_ID": 0}}[how]
        env = dict(os.environ, **{k: str(v) for k, v in own.items()}, **more)
        out.append(subprocess.Popen([sys.executable, "-u", program, "rank"], env=env))
        role(f"rank{r}", out[-1].pid)
    return out


def first_bad(ranks):
    while True:
        for r, p in enumerate(ranks):
            if p.poll():
                return r
        if all(p.poll() == 0 for p in ranks):
            return None
        time.sleep(0.02)


def stop(ranks):
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
    kept = []
    while len(kept) * mib < top:
        kept.append(hold(mib))
        time.sleep(pause)
    return kept


def fault():
    """A read at an address that is not mapped, in C."""
    ctypes.string_at(8)


def send_signals(who, names):
    role("outsider")
    end, pid = time.time() + 30, None
    while pid is None and time.time() < end:
        try:
            rows = [r.split() for r in open(os.environ["CORPUS_ROLES"])]
            pid = next((int(p) for r, p in rows if r == who), None)
        except OSError:
            pass
        time.sleep(0.05)
    time.sleep(1.5)
    for s in names:
        os.kill(pid, getattr(signal, "SIG" + s))
        time.sleep(0.8)
    time.sleep(3)
