#!/usr/bin/python3
"""From the crossing of the threshold to the guard's acts, as reports of kills tell them: vigil's own clock, many kills.

    bench/decision.py [--rounds N=100] [--hogs N=0] [--limit MIB=200] [--neighbour WHAT] [--flags WORDS…]

A program grows as fast as it can under `vigil run --memory-limit`; --hogs programs of the same niceness want every processor
meanwhile. --neighbour: beside a member of the job whose memory lock is always taken (mmap_lock) or never comes back (fuse), with the
supervisor stopped, with an output that nobody reads (pipe), or with the store locked (store). stops: it is frozen, so nothing grows any more. kill: SIGKILL, with the victim's stacks read.
dead: the kernel has taken it apart. VIGIL is the program (build/src/cli/vigil).
"""
import argparse
import fcntl
import json
import os
import pathlib
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
VIGIL = os.environ.get("VIGIL", str(ROOT / "build/src/cli/vigil"))
HOG = os.environ.get("BENCH_BIN", str(ROOT / "build/bench")) + "/hog"
TOOLS = os.environ.get("TOOLS_BIN", str(ROOT / "build/tests/tool"))
PYTHON = "x = []\nwhile True: x.append(bytearray(1 << 20))"
BUSY = "while True: pass"


def one(program, limit_mib, flags):
    state = tempfile.mkdtemp(prefix="vigil-bench-")
    env = dict(os.environ, VIGIL_STATE_DIR=state)
    try:
        subprocess.run([VIGIL, "run", "--quiet", "--retries", "0", "--grace", "0", "--memory-limit", f"{limit_mib}M", *flags, "--",
                        *program], env=env, capture_output=True, timeout=120, check=False)
        report = subprocess.run([VIGIL, "why", "--json"], env=env, capture_output=True, text=True, check=True)
        return json.loads(report.stdout)
    finally:
        shutil.rmtree(state, ignore_errors=True)


SCRIPT = """echo $$ > "$0/pid"; "$@" & while [ ! -e "$0/go" ]; do sleep 0.01; done; exec %s"""
LOCK_BYTE = 120  # of vigil.db-shm: whoever writes takes it


def wait_until(true, seconds=10):
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.002)


def is_gone(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


def stat_of(file):
    """What the kernel says of a process; nothing once it has ended, as others may while all are looked at."""
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""


def sleeps_in_kernel(name):
    return lambda: any(" (%s) D " % name in stat_of(file) for file in pathlib.Path("/proc").glob("[0-9]*/stat"))


class Neighbour:
    """Who stands beside the hog: what the job's shell starts, and what is done once it runs and after the hog's end."""

    def __init__(self, what, folder):
        self.what, self.folder, self.fd, self.server = what, pathlib.Path(folder), -1, None
        self.dead = self.folder / "dead"
        self.command = {"mmap_lock": [TOOLS + "/holdlock", "busy"], "fuse": [TOOLS + "/holdlock", "dead", str(self.dead)],
                        "pipe": ["yes"]}.get(what, ["true"])
        if what == "fuse":
            self.dead.mkdir()
            self.server = subprocess.Popen([TOOLS + "/deadfs", self.dead, "hard"], stdout=subprocess.PIPE)
            self.server.stdout.readline()

    def begin(self, vigil, state):
        if self.what == "mmap_lock":
            time.sleep(1)
        elif self.what == "fuse":
            wait_until(sleeps_in_kernel("holdlock"))
        elif self.what == "stopped":
            time.sleep(1)
            vigil.send_signal(signal.SIGSTOP)
        elif self.what == "pipe":
            time.sleep(1)
        elif self.what == "store":
            wait_until(lambda: (state / "vigil.db-shm").exists())
            self.fd = os.open(state / "vigil.db-shm", os.O_RDWR)
            fcntl.fcntl(self.fd, fcntl.F_SETLKW, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, LOCK_BYTE, 8, 0))

    def end(self, vigil):
        if self.server:
            self.server.terminate()
            self.server.wait()
        if self.fd >= 0:
            os.close(self.fd)
        vigil.send_signal(signal.SIGCONT)
        if vigil.stdout:
            vigil.stdout.close()


def one_beside(what, program, limit_mib, flags):
    """One kill beside a neighbour: its report, which may come only when the neighbour is gone."""
    with tempfile.TemporaryDirectory(prefix="vigil-bench-") as folder:
        state = pathlib.Path(folder) / "state"
        env = dict(os.environ, VIGIL_STATE_DIR=str(state))
        beside = Neighbour(what, folder)
        vigil = subprocess.Popen([VIGIL, "run", "--quiet", "--retries", "0", "--grace", "0", "--memory-limit", f"{limit_mib}M", *flags, "--",
                                  "sh", "-c", SCRIPT % " ".join(map(shlex.quote, program)), folder, *beside.command], env=env,
                                 stdout=subprocess.PIPE if what == "pipe" else subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: (pathlib.Path(folder) / "pid").exists() and (pathlib.Path(folder) / "pid").read_text().strip())
            pid = int((pathlib.Path(folder) / "pid").read_text())
            beside.begin(vigil, state)
            (pathlib.Path(folder) / "go").touch()
            wait_until(lambda: is_gone(pid))
            late = not is_gone(pid)
        finally:
            beside.end(vigil)
        vigil.wait(60)
        report = subprocess.run([VIGIL, "why", "--json"], env=env, capture_output=True, text=True, check=True)
        return dict(json.loads(report.stdout), late=late)


def at(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] / 1000


def row(name, reports):
    acts = [r["action"] for r in reports if r["kind"] == "memory_kill"]
    print(f"\n{name}: {len(acts)} of {len(reports)} ended by vigil, {sum(bool(r.get('stacks')) for r in reports)} with stacks")
    if any(r.get("late") for r in reports):
        print(f"  {sum(r['late'] for r in reports)} lived for 10 s, until the neighbour was taken away")
    for what, key in (("stops", "freeze_us"), ("kill", "kill_us"), ("dead", "dead_us")):
        us = [a[key] for a in acts if a.get(key)]
        if us:
            print(f"  {what:5}  p50 {at(us, 0.5):7.2f} ms   p90 {at(us, 0.9):7.2f}   p99 {at(us, 0.99):7.2f}   worst {max(us) / 1000:7.2f}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=100)
    p.add_argument("--hogs", type=int, default=0)
    p.add_argument("--limit", type=int, default=200)
    p.add_argument("--neighbour", choices=["mmap_lock", "fuse", "stopped", "pipe", "store"])
    p.add_argument("--flags", nargs="*", default=[])
    args = p.parse_args()
    hogs = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(args.hogs)]
    try:
        for name, program in (("a C program", [HOG]), ("a Python program", [sys.executable, "-c", PYTHON])):
            if args.neighbour:
                reports = [one_beside(args.neighbour, program, args.limit, args.flags) for _ in range(args.rounds)]
            else:
                reports = [one(program, args.limit, args.flags) for _ in range(args.rounds)]
            row(name, reports)
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


main()
