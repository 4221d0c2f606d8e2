#!/usr/bin/python3
"""From the crossing of the threshold to the guard's acts, as reports of kills tell them: vigil's own clock, many kills.

    bench/decision.py [--rounds N=100] [--hogs N=0] [--limit MIB=200] [--flags WORDS…]

A program grows as fast as it can under `vigil run --memory-limit`; --hogs programs of the same niceness want every processor
meanwhile. stops: it is frozen, so nothing grows any more. kill: SIGKILL, with the victim's stacks read.
dead: the kernel has taken it apart. VIGIL is the program (build/src/cli/vigil).
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
VIGIL = os.environ.get("VIGIL", str(ROOT / "build/src/cli/vigil"))
HOG = os.environ.get("BENCH_BIN", str(ROOT / "build/bench")) + "/hog"
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


def at(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] / 1000


def row(name, reports):
    acts = [r["action"] for r in reports if r["kind"] == "memory_kill"]
    print(f"\n{name}: {len(acts)} of {len(reports)} ended by vigil, {sum(bool(r.get('stacks')) for r in reports)} with stacks")
    for what, key in (("stops", "freeze_us"), ("kill", "kill_us"), ("dead", "dead_us")):
        us = [a[key] for a in acts if a.get(key)]
        if us:
            print(f"  {what:5}  p50 {at(us, 0.5):7.2f} ms   p90 {at(us, 0.9):7.2f}   p99 {at(us, 0.99):7.2f}   worst {max(us) / 1000:7.2f}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=100)
    p.add_argument("--hogs", type=int, default=0)
    p.add_argument("--limit", type=int, default=200)
    p.add_argument("--flags", nargs="*", default=[])
    args = p.parse_args()
    hogs = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(args.hogs)]
    try:
        for name, program in (("a C program", [HOG]), ("a Python program", [sys.executable, "-c", PYTHON])):
            row(name, [one(program, args.limit, args.flags) for _ in range(args.rounds)])
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


main()
