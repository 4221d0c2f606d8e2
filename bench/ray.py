#!/usr/bin/python3
"""What does `vigil watch --ray` cost a Ray node, how soon is a node adopted, and is every worker named?

    ray.py [--rounds N] [--tasks N]       VIGIL=path RAY_PYTHON=a Python with Ray

Rounds with and without vigil alternate on one node, so that the machine's other work falls on both. Needs unshare(1).
One JSON line: seconds of adoption, processors that vigil takes, and the ratios (with to without) of the rounds' times and
of the processor time that Ray itself took in them, which other work on the machine disturbs less.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

import psutil

ROOT = pathlib.Path(__file__).resolve().parent.parent
VIGIL = os.environ.get("VIGIL", str(ROOT / "build/src/cli/vigil"))
PYTHON = os.environ.get("RAY_PYTHON", str(ROOT / ".venv-frameworks/bin/python"))


def vigil(env, *args):
    done = subprocess.run([VIGIL, *args, "--json"], env=env, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def cpu_of(process):
    """Seconds of processor that a process and all its children have taken, ended ones included."""
    total = 0
    for p in [process, *process.children(recursive=True)]:
        try:
            times = p.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


class Watch:
    """vigil watch --ray, from its start to the adoption of the node."""

    def __init__(self, raylet):
        self.state = tempfile.mkdtemp(prefix="bench-ray-")
        self.env = {**os.environ, "VIGIL_STATE_DIR": self.state}
        begun = time.monotonic()
        self.process = subprocess.Popen([VIGIL, "watch", "--ray"], env=self.env, stderr=subprocess.DEVNULL)
        while not any(j["pid"] == raylet for j in vigil(self.env, "jobs")):
            if time.monotonic() > begun + 60 or self.process.poll() is not None:
                raise SystemExit("ray.py: the node was not adopted")
            time.sleep(0.01)
        self.adopted_s = time.monotonic() - begun

    def named(self):
        """How many workers there are, and how many of them `vigil ps` names by a title of Ray's, which may change meanwhile."""
        told = {p["pid"]: p.get("command") for p in vigil(self.env, "ps") if p.get("role") == "ray_worker"}
        there = {p.pid for p in psutil.process_iter() if p.name().startswith("ray::")
                 and not p.name().startswith(("ray::Dashboard", "ray::RuntimeEnv"))}
        return len(there), sum((told.get(pid) or "").startswith("ray::") for pid in there)

    def end(self):
        self.process.terminate()
        self.process.wait(30)
        shutil.rmtree(self.state, ignore_errors=True)


def round_of(load, raylet, tasks):
    """Seconds of the round, and of processor that the raylet and its workers took in it."""
    node = psutil.Process(raylet)
    cpu = cpu_of(node)
    load.stdin.write(f"{tasks}\n")
    load.stdin.flush()
    return float(load.stdout.readline()), cpu_of(node) - cpu


def spread(ratios):
    return {"median": round(statistics.median(ratios), 4), "all": [round(r, 3) for r in sorted(ratios)]}


def measure(load, raylet, rounds, tasks):
    adopted, times, cpus, shares, names = [], [], [], [], (0, 0)
    for _ in range(rounds):
        without = round_of(load, raylet, tasks)
        watch = Watch(raylet)
        adopted.append(watch.adopted_s)
        names = watch.named()
        process = psutil.Process(watch.process.pid)
        cpu, begun = cpu_of(process), time.monotonic()
        with_vigil = round_of(load, raylet, tasks)
        shares.append((cpu_of(process) - cpu) / (time.monotonic() - begun))
        watch.end()
        times.append(with_vigil[0] / without[0])
        cpus.append(with_vigil[1] / without[1])
    return {"rounds": rounds, "tasks": tasks, "adopted_s": [round(s, 3) for s in sorted(adopted)],
            "workers": names[0], "named": names[1], "vigil_processors": round(statistics.median(shares), 4),
            "time": spread(times), "ray_cpu": spread(cpus)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--tasks", type=int, default=600)
    args = parser.parse_args()
    if any(p.name() == "raylet" for p in psutil.process_iter()):
        raise SystemExit("ray.py: this machine already runs a Ray node, which would be adopted as well")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ray-"))
    env = {**os.environ, "HOME": str(folder), "RAY_TMPDIR": str(folder), "RAY_USAGE_STATS_ENABLED": "0"}
    # -P: this file is called ray as well
    load = subprocess.Popen(["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", PYTHON, "-Pu",
                             str(ROOT / "bench/rayload.py")], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True)
    try:
        if load.stdout.readline().strip() != "up":
            raise SystemExit("ray.py: no Ray came up")
        raylet = next(p.pid for p in psutil.process_iter() if p.name() == "raylet")
        print(json.dumps(measure(load, raylet, args.rounds, args.tasks)))
    finally:
        load.stdin.close()
        load.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
