#!/usr/bin/python3
"""What a month of history costs: the writer for a day of samples, each reading route of the page's server, the reading commands.

    bench/history.py [--vigil PATH] [--days 30] [--jobs 300] [--ranks 16] [--processes 3000] [--state DIR] [--times 20]

What a route costs the first time is told apart, with the server's processor time of it (that of a command that it asks is not in it).
histgen (built with vigil) writes the store by vigil's own writers. DIR is used if it has one already, and kept. The limits of
the issue stand behind the numbers: a page's query 50 ms, the writer 0.5 % of a core.
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from web import ROOT, Server, cpu_s  # noqa: E402

LIMIT_MS = 50


def line(what, times, size, processor_ms=None, first_ms=None):
    first = times[0]
    times.sort()
    over = "  OVER" if statistics.median(times) > LIMIT_MS else ""
    spent = f", {processor_ms:6.1f} ms of processor time" if processor_ms is not None else ""
    begun = f" ({first_ms:.1f} of it)" if first_ms is not None else ""
    print(f"{what:62} {statistics.median(times):7.1f} ms median, {times[-1]:7.1f} ms at most, {first:7.1f} the first time{begun}{spent}, {size} bytes{over}")


def measure_routes(server, jobs, times):
    middle = int((time.time() - 15 * 86400) * 1000)
    general = ["/api/v1/jobs", "/api/v1/jobs?limit=200", "/api/v1/jobs?running=1", "/api/v1/events?order=desc", "/api/v1/events",
               "/api/v1/node", "/api/v1/openapi.json", "/metrics"]
    of_job = ["", "/ranks", "/processes", "/memory", f"/memory?from={middle}", "/series?what=cpu", "/series?what=io",
              "/series?what=step", "/series?what=gpu", "/events", "/events?order=desc", "/incidents", "/logs", f"/at?time={middle}", "/timeline?points=240",
              f"/timeline?points=240&from={middle}&to={middle + 3600_000}", "/timeline"]
    for target in general + [f"/api/v1/jobs/{job}{part}" for job in jobs for part in of_job]:
        took, size, begin, first = [], 0, cpu_s(server.process.pid), 0
        for _ in range(times):
            seconds, body = server.get(target)
            took.append(seconds * 1000)
            size = len(body)
            first = first or cpu_s(server.process.pid) - begin
        line(target, took, size, (cpu_s(server.process.pid) - begin) * 1000 / times, first * 1000)


def measure_commands(vigil, env, jobs, times):
    for words in (["jobs"], ["jobs", "--json"], ["ps"], ["events"], ["why"], *([w, j] for j in jobs for w in ("show", "ps", "why", "timeline"))):
        took, size, before = [], 0, resource.getrusage(resource.RUSAGE_CHILDREN)
        for _ in range(times):
            began = time.monotonic()
            size = len(subprocess.run([vigil, *words], env=env, capture_output=True).stdout)
            took.append((time.monotonic() - began) * 1000)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        line("vigil " + " ".join(words), took, size, spent * 1000 / times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vigil", default=str(ROOT / "build/src/cli/vigil"))
    for name, default in (("days", 30), ("jobs", 300), ("ranks", 16), ("processes", 3000), ("times", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--state")
    a = parser.parse_args()
    histgen = pathlib.Path(a.vigil).parents[2] / "bench/histgen"
    with tempfile.TemporaryDirectory() as folder:
        state = pathlib.Path(a.state or folder)
        state.mkdir(mode=0o700, exist_ok=True)
        if not (state / "vigil.db").exists():
            told = json.loads(subprocess.run([histgen, state, *map(str, (a.days, a.jobs, a.ranks, a.processes))],
                                             check=True, capture_output=True).stdout)
            print(f"{a.processes} processes in {a.ranks} ranks, each second: {told['cpu_s_per_day']:.2f} s of processor time a day, "
                  f"{told['core_percent']:.4f} % of a core (limit 0.5), {told['bytes'] / 2**20:.1f} MiB after {a.days} days (cap 8)")
        env = {**os.environ, "VIGIL_STATE_DIR": str(state)}
        jobs = ["long-00000000", f"hist-{a.jobs // 2 // 3 * 3:08x}"]
        server = Server(a.vigil, env)
        try:
            print(f"{a.jobs} jobs in {a.days} days, load {os.getloadavg()[0]:.1f}")
            measure_routes(server, jobs, a.times)
            measure_commands(a.vigil, env, jobs, a.times)
        finally:
            server.process.terminate()
            server.process.wait()


if __name__ == "__main__":
    main()
