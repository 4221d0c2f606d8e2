#!/usr/bin/env python3
"""First attaches of the heap sampler to fresh programs of each kind: deaths, hangs, and how long a thread stood still.

An attach takes several short stops: the longest of each attach is shown, and the median of their sums. A program that is
stopped is to be refused, to stay stopped, and to run on when it is continued: then it is attached to, and that is timed.

attach.py [--build BUILD] [--times N] [--seconds S] [KIND ...]: at most N of each kind, as many as fit into S seconds.
"""
import argparse
import importlib.util
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/e2e")]
KINDS = ["sleep", "futex", "malloc", "fork", "numpy", "import", "stopped"]


def programs():
    spec = importlib.util.spec_from_file_location("attach_tests", ROOT / "tests/e2e/test_heap_attach.py")
    tests = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tests)
    return tests


def lives(process, kind):
    """It runs on: a program that counts uses processor time, one that waits is still waiting."""
    def ticks():
        fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return sum(map(int, fields[11:15]))
    if kind in ("sleep", "futex"):
        time.sleep(0.02)
        return True
    before, until = ticks(), time.monotonic() + 10
    while ticks() == before and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    return process.poll() is not None or ticks() > before


def stands(process):
    return pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"


def refused_while_stopped(process, attach):
    process.send_signal(signal.SIGSTOP)
    until = time.monotonic() + 10
    while not stands(process) and time.monotonic() < until:
        time.sleep(0.001)
    said = attach().stdout
    assert "is stopped" in said and stands(process), said
    process.send_signal(signal.SIGCONT)


def once(tests, tool, targets, kind, state):
    command = tests.command(targets.parent, "malloc" if kind == "stopped" else kind)
    process = subprocess.Popen([str(a) for a in command], stdout=subprocess.PIPE)

    def attach():
        return subprocess.run([str(tool), "attach", str(process.pid), state], capture_output=True, text=True, timeout=60)
    try:
        ready, _, _ = select.select([process.stdout], [], [], 20)
        assert ready and process.stdout.readline().strip() == b"ready"
        if kind == "stopped":
            refused_while_stopped(process, attach)
        done = attach()
        stopped = re.search(r"stopped_us (\d+) sum_us (\d+)", done.stdout)
        runs = lives(process, kind)
        return dict(died=process.poll() is not None, hung=not runs, refused=not stopped, said=done.stdout + done.stderr,
                    ms=int(stopped[1]) / 1000 if stopped else None, all_ms=int(stopped[2]) / 1000 if stopped else None)
    finally:
        process.kill()
        process.wait()


def part(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build", type=pathlib.Path)
    parser.add_argument("--times", type=int, default=167)
    parser.add_argument("--seconds", type=float, default=55)
    parser.add_argument("kinds", nargs="*")
    o = parser.parse_args()
    tests, tool = programs(), o.build.resolve() / "tests/tool/heaptool"
    os.environ.setdefault("VIGIL_DATA_DIR", str(o.build.resolve() / "preload"))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="vigil-attach-"))
    got = {kind: [] for kind in o.kinds or KINDS}
    try:
        targets = folder / "targets"
        subprocess.run(["cc", "-O1", "-pthread", "-mavx2", str(ROOT / "tests/workloads/inject/targets.c"), "-o", str(targets)], check=True)
        until = time.monotonic() + o.seconds
        for _ in range(o.times):
            for kind, results in got.items():
                if time.monotonic() < until:
                    results.append(once(tests, tool, targets, kind, str(folder / "state")))
                    shutil.rmtree(folder / "state", ignore_errors=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{'kind':8} {'times':>5} {'deaths':>6} {'hangs':>5} {'refused':>7} {'p50 ms':>7} {'p95 ms':>7} {'max ms':>7} {'sum p50':>7}")
    everything = [r for results in got.values() for r in results]
    for kind, results in [*got.items(), ("all", everything)]:
        ms = [r["ms"] for r in results if r["ms"] is not None]
        sums = [r["all_ms"] for r in results if r["all_ms"] is not None]
        print(f"{kind:8} {len(results):5} {sum(r['died'] for r in results):6} {sum(r['hung'] for r in results):5} "
              f"{sum(r['refused'] for r in results):7} {part(ms, .5):7.2f} {part(ms, .95):7.2f} {part(ms, 1):7.2f} {part(sums, .5):7.2f}")
    for text in sorted({re.sub(r"\d+", "N", r["said"].strip()) for r in everything if r["refused"]}):
        print("refused:", text)
    return 1 if any(r["died"] or r["hung"] for r in everything) else 0


if __name__ == "__main__":
    sys.exit(main())
