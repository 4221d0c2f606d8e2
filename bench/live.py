#!/usr/bin/python3
"""What does the live socket cost? An idle run without readers, with one and with 64, and a memory kill that is being read.

    bench/live.py [--vigil PATH] [--before PATH] [--seconds 60] [--kills 10] [--mib 256]

--before names an older vigil, which is run beside the first line for comparison. Processor time is that of all of vigil's
processes beside `sleep`, its start and end included. Kills take root and a memory group (version 1 or 2) of --mib.
"""
import argparse
import json
import os
import pathlib
import resource
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))
from conftest import Box, memory_groups, wait_for  # noqa: E402


def load():
    return os.getloadavg()[0]


def connect(state, n):
    place = wait_for(lambda: next(iter(state.glob("jobs/*/live")), None), 20)
    folder = os.open(place.parent, os.O_PATH)
    readers = []
    for _ in range(n):
        readers.append(socket.socket(socket.AF_UNIX))
        readers[-1].connect(f"/proc/self/fd/{folder}/live")
    os.close(folder)
    return readers


def read_until_end(readers):
    """Reads all lines of all readers; gives the bytes of the first."""
    waiting, first = selectors.DefaultSelector(), 0
    for r in readers:
        waiting.register(r, selectors.EVENT_READ)
    while waiting.get_map():
        for key, _ in waiting.select():
            got = key.fileobj.recv(1 << 16)
            first += len(got) if key.fileobj is readers[0] else 0
            if not got:
                waiting.unregister(key.fileobj)
                key.fileobj.close()
    return first


def idle(vigil, seconds, n):
    """Milliseconds of processor time of a run; its readers are in a process of their own, which is not counted."""
    with tempfile.TemporaryDirectory() as d:
        state = pathlib.Path(d)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = subprocess.Popen([vigil, "run", "-q", "--state", d, "--", "sleep", str(seconds)], stdin=subprocess.DEVNULL)
        told = read_until_end(connect(state, n)) if n else 0
        assert run.wait() == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000, told


def kill(vigil, mib, n):
    """Microseconds from the crossing to SIGKILL, by the report."""
    base, version = memory_groups()
    group = base / f"vigil-bench-{os.getpid()}-{time.monotonic_ns()}"
    group.mkdir()
    box = Box(group, version, mib << 20)
    (group / ("memory.max" if version == 2 else "memory.limit_in_bytes")).write_text(str(mib << 20))
    try:
        with tempfile.TemporaryDirectory() as d:
            run = subprocess.Popen([vigil, "run", "-q", "--state", d, "--", ROOT / "build/bench/hog", "--rate", "300M"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=box.enter)
            if n:
                read_until_end(connect(pathlib.Path(d), n))
            assert run.wait() == 137
            why = subprocess.run([vigil, "why", "last", "--json", "--state", d], capture_output=True, check=True)
            return json.loads(why.stdout)["action"]["kill_us"]
    finally:
        box.remove()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--vigil", default=str(ROOT / "build/src/cli/vigil"))
    p.add_argument("--before")
    p.add_argument("--seconds", type=int, default=60)
    p.add_argument("--kills", type=int, default=10)
    p.add_argument("--mib", type=int, default=256)
    a = p.parse_args()
    for name, vigil, n in ((("before", a.before, 0),) if a.before else ()) + tuple((f"{n} readers", a.vigil, n) for n in (0, 1, 64)):
        cpu, told = idle(vigil, a.seconds, n)
        print(f"beside sleep {a.seconds}: {name:10} {cpu:7.1f} ms of processor time, a reader is told {told} bytes (load {load():.0f})", flush=True)
    for n in (0, 64) if a.kills and os.geteuid() == 0 else ():
        took = sorted(kill(a.vigil, a.mib, n) for _ in range(a.kills))
        print(f"SIGKILL after the crossing, {n:2} readers: median {statistics.median(took):.0f} us, at most {took[-1]} us of {a.kills} (load {load():.0f})")


if __name__ == "__main__":
    main()
