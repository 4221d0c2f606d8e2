#!/usr/bin/python3
"""Hang detection measured: how soon, how right, how quiet, and at what cost.

    bench/hang.py causes [--runs N] [--ranks N] [--only NAME…]   causes x runs: time to suspicion and verdict, culprit, cause
    bench/hang.py benign [--runs N] [--only NAME…]               benign phases x runs: false alarms
    bench/hang.py cost [--ranks 8] [--threads 200] [--seconds N]   processor time of the watcher
    bench/hang.py sum_up FILE…                                   totals of what several slices have printed
    bench/hang.py slow [--runs N]                                   the same work watched and not watched

Without --hang-after in --vigil-args the detector runs with its own times. Prints one JSON line a run and a summary.
VIGIL is the program (build/src/cli/vigil); the workloads are those of the end-to-end tests.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))
from ranksim import world  # noqa: E402
VIGIL = os.environ.get("VIGIL", str(ROOT / "build/src/cli/vigil"))
HANGS = [sys.executable, "-u", str(ROOT / "tests/workloads/hangs.py")]
HELPER = ["--helper", str(ROOT / "build/tests/tool/hanghelper.so")]

# cause: (arguments, names that are right)
CAUSES = {
    "lock": ([], {"missing_rank"}),
    "stop": ([], {"rank_stopped"}),
    "gil": ([], {"gil_held"}),
    "spin": ([], {"spin"}),
    "disk": ([], {"missing_rank", "storage_stall"}),
    "fork_lock": ([], {"fork_lock"}),
    "openmp": ([], {"openmp_fork"}),
    "python_fork_lock": ([], {"python_fork_lock"}),
    "deadlock": ([], {"deadlock"}),
    "loader": ([], {"loader_stuck"}),
    "exception": ([], {"rank_finishing", "cuda_illegal_access", "one_rank_failed"}),
    "missing": ([], {"missing_rank"}),
    "gone": (["--deaf"], {"uneven_last_epoch"}),
    "killed": (["--deaf"], {"dead_rank"}),
    "uneven": (["--deaf"], {"uneven_last_epoch"}),
    "noise": (["--noise"], {"missing_rank"}),
    "mismatch": ([], {"mismatched_collective"}),
    "p2p": ([], {"mismatched_collective"}),
    "size": ([], {"mismatched_collective"}),
    "store": (["--deaf"], {"dead_rank"}),
}
SPAWNED = {"killed", "store"}  # by a launcher that does not notice
DUMPED = {"size"}  # on their stacks all ranks stand alike: only the dumps of the collective library tell them apart
FIRST = {"store"}  # of rank 0
BENIGN = ("sleep", "checkpoint", "download", "compile", "evaluation", "work", "suspend", "debug")


def environment(state):
    env = {k: v for k, v in os.environ.items()
           if k == "VIGIL_DATA_DIR" or not k.startswith(("VIGIL_", "RANK", "WORLD_SIZE", "MASTER_"))}
    return dict(env, VIGIL_STATE_DIR=str(state), PYTHONDONTWRITEBYTECODE="1")


def vigil(state, *args, more=None, **kwargs):
    return subprocess.run([VIGIL, *args], env=dict(environment(state), **(more or {})), capture_output=True, text=True, **kwargs)


def dumps(folder, ranks, culprit):
    """What each rank will write when it is asked: one has come to the last collective with another size."""
    for r in world(ranks):
        r.call().call("all_reduce", (7,) if r.rank == culprit else (8,), False).write(folder, name="ready_")
        os.mkfifo(folder / f"pipe_{r.rank}.pipe")
    return {"TORCH_NCCL_DEBUG_INFO_TEMP_FILE": str(folder / "fr_"), "TORCH_NCCL_DEBUG_INFO_PIPE_FILE": str(folder / "pipe_")}


def one(what, ranks, culprit, extra, vigil_args, timeout):
    state = tempfile.mkdtemp(prefix="vigil-bench-")
    name = "lock" if what == "noise" else what
    command = [*HANGS, name, "--culprit", str(culprit), *HELPER, *extra]
    more = {}
    if what in DUMPED:
        folder = pathlib.Path(state, "dumps")
        folder.mkdir()
        more = dumps(folder, ranks, culprit)
        command += ["--dumps", str(folder)]
    if what in SPAWNED:
        command += ["--spawn", str(ranks)]
        group = []
    else:
        group = ["--nproc", str(ranks)]
    try:
        run = vigil(state, "run", "-q", "--on-hang", "kill", *group, *vigil_args, "--", *command, timeout=timeout, more=more)
        report = vigil(state, "why", "--json")
        return run.returncode, json.loads(report.stdout) if report.returncode == 0 else {}
    except subprocess.TimeoutExpired:
        return None, {}
    finally:
        shutil.rmtree(state, ignore_errors=True)


def share(n, of):
    return f"{n}/{of} ({100 * n / of:.0f} %)" if of else "none"


def causes_sum(rows):
    found = [r for r in rows if r["found"]]
    print(f"found {share(len(found), len(rows))}; culprit right {share(sum(r['culprit_right'] for r in rows), len(rows))}; "
          f"cause right {share(sum(r['cause_right'] for r in rows), len(rows))}; wrong at confidence high "
          f"{sum(1 for r in found if not r['culprit_right'] and r['confidence'] == 'high')}")
    for key in ("suspected_s", "verdict_s"):
        times = sorted(r[key] for r in found if r[key])
        if times:
            print(f"{key}: median {statistics.median(times):.1f}, 95 % within {times[int(len(times) * 0.95 - 0.01)]:.1f}, "
                  f"worst {times[-1]:.1f}")


def causes(args):
    rows = []
    for what in args.only or CAUSES:
        extra, right = CAUSES[what]
        for i in range(args.first, args.first + args.runs):
            culprit = 0 if what in FIRST else random.Random(f"{what}{i}").randrange(1, args.ranks)
            status, report = one(what, args.ranks, culprit, ["--at", "40", "--steps", "4000", *extra], args.vigil_args, 180)
            cause, hang = report.get("cause", {}), report.get("hang", {})
            row = {"cause": what, "culprit": culprit, "status": status, "kind": report.get("kind"), "id": cause.get("id"),
                   "confidence": cause.get("confidence"), "named": report.get("culprit_ranks"),
                   "found": status == 124, "culprit_right": report.get("culprit_ranks") == [culprit],
                   "cause_right": cause.get("id") in right, "suspected_s": hang.get("suspected_ms", 0) / 1000 or None,
                   "verdict_s": hang.get("standstill_ms", 0) / 1000 or None}
            rows.append(row)
            print(json.dumps(row), flush=True)
    causes_sum(rows)


def benign(args):
    alarms = runs = 0
    for what in args.only or BENIGN:
        for _ in range(args.runs):
            extra = ["--at", "0" if what == "work" else "20", "--steps", "30", "--last", str(args.last)]
            status, report = one(what, 2, 0, extra, args.vigil_args, args.last + 120)
            runs += 1
            alarm = status != 0 or report.get("kind") == "hang"  # one of low confidence ends nothing
            alarms += alarm
            print(json.dumps({"phase": what, "status": status, "alarm": alarm, "id": report.get("cause", {}).get("id")}),
                  flush=True)
    print(f"false alarms: {alarms} of {runs}")


def sum_up(args):
    """Of slices that ran at other times, or beside each other."""
    rows = [json.loads(line) for name in args.files for line in open(name) if line.startswith("{")]
    hangs, phases = [r for r in rows if "cause" in r], [r for r in rows if "phase" in r]
    if hangs:
        causes_sum(hangs)
    if phases:
        print(f"false alarms: {sum(r['alarm'] for r in phases)} of {len(phases)}")


IDLERS = """
import threading, time, sys
stop = threading.Event()
for _ in range(int(sys.argv[1]) - 1):
    threading.Thread(target=stop.wait, daemon=True).start()
end = time.monotonic() + float(sys.argv[2])
step = 0
while time.monotonic() < end:
    sum(i * i for i in range(100_000))
    time.sleep(0.2)
    step += 1
    print(f"step {step}", flush=True)
"""
WORK = """
import time, sys
t = time.process_time(), time.monotonic()
for _ in range(int(sys.argv[1])):
    sum(i * i for i in range(200_000))
print(time.monotonic() - t[1])
"""



def run_ns(pid):
    """Finer than the ticks of stat: the main thread is all it has."""
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def children(pid):
    return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def watcher_of(pid):
    end = time.monotonic() + 20
    while time.monotonic() < end:
        for child in children(pid):
            if pathlib.Path(f"/proc/{child}/comm").read_text().strip() == "vigil-hang":
                return child
        time.sleep(0.1)
    raise SystemExit("no watcher was started")


def cost(args):
    state = tempfile.mkdtemp(prefix="vigil-bench-")
    p = subprocess.Popen([VIGIL, "run", "-q", "--nproc", str(args.ranks), "--", sys.executable, "-c", IDLERS, str(args.threads),
                          str(args.seconds + 40)], env=environment(state), stdout=subprocess.DEVNULL)
    watcher = watcher_of(p.pid)
    time.sleep(25)  # the first looks learn who is there, then ranks are compared for stragglers, once in ten minutes
    before, began = run_ns(watcher), time.monotonic()
    time.sleep(args.seconds)
    used = (run_ns(watcher) - before) / 1e9 / (time.monotonic() - began)
    p.terminate()
    p.wait()
    shutil.rmtree(state, ignore_errors=True)
    print(f"watcher: {100 * used:.3f} % of a core for {args.ranks} ranks of {args.threads} threads, over {args.seconds:.0f} s")


def slow(args):
    times = {True: [], False: []}
    for i in range(args.runs * 2):
        watched = i % 2 == 0
        state = tempfile.mkdtemp(prefix="vigil-bench-")
        extra = [] if watched else ["--hang-after", "0"]
        done = vigil(state, "run", "-q", *extra, "--", sys.executable, "-c", WORK, str(args.work))
        times[watched].append(float(done.stdout))
        shutil.rmtree(state, ignore_errors=True)
    with_it, without = min(times[True]), min(times[False])
    print(f"the same work: {with_it:.3f} s watched, {without:.3f} s not ({100 * (with_it / without - 1):+.2f} %), best of {args.runs}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=("causes", "benign", "cost", "slow", "sum_up"))
    p.add_argument("files", nargs="*", help="of sum_up: what causes and benign have printed")
    p.add_argument("--runs", type=int, default=1)
    p.add_argument("--first", type=int, default=0, help="number of the first run: it chooses the culprit")
    p.add_argument("--ranks", type=int, default=8)
    p.add_argument("--threads", type=int, default=200)
    p.add_argument("--seconds", type=float, default=40)
    p.add_argument("--last", type=float, default=60)
    p.add_argument("--work", type=int, default=400)
    p.add_argument("--only", nargs="*")
    p.add_argument("--vigil-args", nargs="*", default=[])
    args = p.parse_args()
    globals()[args.what](args)


main()
