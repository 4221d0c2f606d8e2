#!/usr/bin/python3
"""Kills all of `vigil watch` while it has a process stopped by SIGSTOP: does that process go on?

    bench/outlive_stopped.py [--trials N=10]

A hog without a control group of its own crosses --memory-limit. The supervisor is stopped, so nobody reads stacks and the
guard keeps the hog stopped for some milliseconds; once it is seen to be stopped, all of vigil gets SIGKILL. A trial
counts only if vigil was killed before it had killed the hog. Raises its own priority where it may. VIGIL is the program.
"""
import argparse
import collections
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
VIGIL = os.environ.get("VIGIL", str(ROOT / "build/src/cli/vigil"))
HOG = """
import sys, time
held = []
sys.stdin.readline()
while True:
    held.append(bytearray(1 << 20))
    time.sleep(0.003 if len(held) < 300 else 1)
"""


def state_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"


def wait_until(true, seconds, pause=0.01):
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(pause)


def children(pid):
    return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def trial(state):
    env = dict(os.environ, VIGIL_STATE_DIR=state)
    hog = subprocess.Popen(["nice", "-n", "15", sys.executable, "-c", HOG], stdin=subprocess.PIPE)
    watch = subprocess.Popen([VIGIL, "watch", "--pid", str(hog.pid), "--memory-limit", "150M", "--grace", "0"], env=env,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: b"job_adopted" in subprocess.run([VIGIL, "events"], env=env, capture_output=True, check=False).stdout, 20)
        parts = [watch.pid, *children(watch.pid)]
        os.kill(watch.pid, signal.SIGSTOP)
        hog.stdin.write(b"go\n")
        hog.stdin.flush()
        wait_until(lambda: state_of(hog.pid) in ("T", "Z", "gone"), 15, 0.0005)
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in parts:
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    pass
        watch.wait()
        time.sleep(1)
        now = state_of(hog.pid)
        return "not counted: it was killed first" if now in ("Z", "gone") else "stayed stopped" if now in "Tt" else "went on"
    finally:
        watch.kill()
        watch.wait()
        hog.kill()
        hog.wait()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--trials", type=int, default=10)
    trials = p.parse_args().trials
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -15)
    except PermissionError:
        print("at normal priority: fewer trials will count", file=sys.stderr)
    count = collections.Counter()
    for _ in range(trials):
        state = tempfile.mkdtemp(prefix="vigil-outlive-")
        count[trial(state)] += 1
        shutil.rmtree(state, ignore_errors=True)
    print(", ".join(f"{what}: {n}" for what, n in sorted(count.items())))
    return 1 if count["stayed stopped"] else 0


if __name__ == "__main__":
    sys.exit(main())
