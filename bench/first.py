#!/usr/bin/python3
"""What do the page's first answers cost that a process of the server's gives: /node, /metrics, a timeline's picture, a job's processes?

    bench/first.py [--vigil PATH] [--before PATH] [--times 10] [--hogs 0] [--state DIR] [--days 30] [--jobs 300]

A new server for each answer, so that each is the first. --before names an older vigil, which is asked by turns. --hogs is the number
of busy loops beside it. With control groups of version 1 `echo $$ > /sys/fs/cgroup/cpu/NAME/tasks` before it makes all of them share
processors by their niceness, as they do where a service manager has made groups. The store is that of history.py (DIR is used if it has one already, and kept). Prints a line for each, and all
as one JSON line in the end: milliseconds on the clock, and of processor time of the server and all of its children, less that of
a server that is asked for nothing but who is there.
"""
import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from web import ROOT, Server  # noqa: E402


def ask(vigil, env, target):
    """Milliseconds on the clock and of processor time of a server that is asked once."""
    server = Server(vigil, env)
    try:
        seconds, _ = server.get(target)
    finally:
        server.process.terminate()
        _, _, usage = os.wait4(server.process.pid, 0)
        server.process.returncode = 0
    return seconds * 1000, (usage.ru_utime + usage.ru_stime) * 1000


def targets():
    middle = int((time.time() - 15 * 86400) * 1000)
    job = "/api/v1/jobs/long-00000000"
    return {"node": "/api/v1/node", "metrics": "/metrics", "timeline": f"{job}/timeline?points=240",
            "hour": f"{job}/timeline?points=240&from={middle}&to={middle + 3600_000}", "processes": f"{job}/processes"}


def spread(values):
    return {"median": round(statistics.median(values), 1), "least": round(min(values), 1), "most": round(max(values), 1)}


def measure(vigils, env, times):
    """{build: {route: (clock, processor time)}}, by turns."""
    got = {name: {route: ([], []) for route in ("nothing", *targets())} for name in vigils}
    for _ in range(times):
        for route, target in {"nothing": "/api/v1/me", **targets()}.items():
            for name, vigil in vigils.items():
                clock, cpu = ask(vigil, env, target)
                got[name][route][0].append(clock)
                got[name][route][1].append(cpu)
    for routes in got.values():
        idle = statistics.median(routes["nothing"][1])
        for route in targets():
            routes[route] = (routes[route][0], [cpu - idle for cpu in routes[route][1]])
    return got


def hogs_start(n):
    """A job: its processes are one session, which is what the kernel shares processors by where there are no control groups."""
    loops = "n=0; while [ $n -lt $1 ]; do (while :; do :; done) & n=$((n + 1)); done; wait"
    return subprocess.Popen(["sh", "-c", loops, "hogs", str(n)], start_new_session=True) if n else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vigil", default=str(ROOT / "build/src/cli/vigil"))
    parser.add_argument("--before")
    parser.add_argument("--state")
    for name, default in (("times", 10), ("hogs", 0), ("days", 30), ("jobs", 300)):
        parser.add_argument(f"--{name}", type=int, default=default)
    a = parser.parse_args()
    hogs = None
    with tempfile.TemporaryDirectory() as folder:
        state = pathlib.Path(a.state or folder)
        state.mkdir(mode=0o700, exist_ok=True)
        if not (state / "vigil.db").exists():
            subprocess.run([pathlib.Path(a.vigil).parents[2] / "bench/histgen", state, str(a.days), str(a.jobs), "16", "3000"],
                           check=True, stdout=subprocess.DEVNULL)
        try:
            hogs = hogs_start(a.hogs)
            vigils = {**({"before": a.before} if a.before else {}), "now": a.vigil}
            got = measure(vigils, {**os.environ, "VIGIL_STATE_DIR": str(state)}, a.times)
            load = os.getloadavg()[0]
        finally:
            if hogs:
                os.killpg(hogs.pid, signal.SIGKILL)
                hogs.wait()
    told = {name: {route: {"clock_ms": spread(clock), "cpu_ms": spread(cpu)} for route, (clock, cpu) in routes.items()}
            for name, routes in got.items()}
    for name, routes in told.items():
        for route, v in routes.items():
            c, p = v["clock_ms"], v["cpu_ms"]
            print(f"{name:6} {route:10} {c['median']:7.1f} ms ({c['least']} to {c['most']}; limit 50), {p['median']:6.1f} ms of processor time "
                  f"({p['least']} to {p['most']})")
    print(json.dumps({"bench": "first", "times": a.times, "hogs": a.hogs, "load": round(load, 1), "processors": os.cpu_count(), **told}))


if __name__ == "__main__":
    main()
