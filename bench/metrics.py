#!/usr/bin/python3
"""What does a scrape cost? A store of 64 running jobs of 8 ranks and a series of hours for each, and ended jobs with reports.

    metrics.py [--jobs 64] [--ranks 8] [--incidents 1000] [--samples 2000] [--rounds 20]

Nothing of the jobs runs: their records name this program as the vigil in charge, and their folders have series as long as
those of a job that has run for hours. Prints one JSON line.
"""
import argparse
import json
import os
import pathlib
import resource
import sqlite3
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from web import Server  # noqa: E402

VIGIL = os.environ.get("VIGIL", str(pathlib.Path(__file__).resolve().parents[1] / "build/src/cli/vigil"))
MASK = (1 << 64) - 1


def checksum(body):
    h = 0xcbf29ce484222325 ^ len(body)
    for (word,) in struct.iter_unpack("<Q", body):
        h = (h ^ word) * 0x100000001b3 & MASK
        h ^= h >> 29
    return (h ^ h >> 32) & 0xffffffff


def record(kind, rest):
    body = struct.pack("<II", kind, 0) + rest
    return struct.pack("<HHI", 0x5653, len(body) + 8, checksum(body)) + body


def series(ranks, samples, now_ms):
    parts = [b"vigilTS1"]
    for n in range(samples):
        at = now_ms - (samples - n) * 5000
        mono = (n + 1) * 5_000_000_000
        lanes = b"".join(struct.pack("<iHHQQQQQQQ", r, 4, 1, n * 10**9, 10**9, 2 * 10**9, n, n, n, n) for r in range(ranks))
        parts.append(record(1, struct.pack("<qQQQQII", at, mono, 10**10, 10**11, 10**10, ranks, 0) + lanes))
        steps = b"".join(struct.pack("<iIQQ", r, 1, n * 10, 100000) for r in range(ranks))
        parts.append(record(3, struct.pack("<qQII", at, mono, ranks, 0) + steps))
    return b"".join(parts)


def columns(db, table):
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1] != "seq"]


def put(db, table, **values):
    names = columns(db, table)
    row = [values.get(n, 0 if n.endswith(("_ms", "_bytes", "ticks", "pid", "kills", "deaths")) or n in
                      ("uid", "adopted", "nproc", "attempt", "max_retries", "rank") else None if n == "exit_status" else "") for n in names]
    db.execute(f"INSERT INTO {table}({','.join(names)}) VALUES({','.join('?' * len(names))})", row)


def fill(state, a):
    now_ms = int(time.time() * 1000)
    start = int(open("/proc/self/stat").read().rsplit(")", 1)[1].split()[19])
    text = series(a.ranks, a.samples, now_ms)
    report = json.dumps({"killer": "vigil", "policy": {"name": "retriable"}, "retry": {"next": "retry"}, "evidence": ["x" * 200] * 60})
    with sqlite3.connect(state / "vigil.db") as db:
        for n in range(a.jobs):
            folder = state / "jobs" / f"job-{n}"
            folder.mkdir(parents=True)
            (folder / "series").write_bytes(text)
            put(db, "job", id=f"job-{n}", name=f"train{n % 7}", state="running", node=os.uname().nodename, user="u", nproc=a.ranks,
                supervisor_pid=os.getpid(), supervisor_start_ticks=start, started_unix_ms=now_ms - 10**7, log_dir=str(folder), pid=1)
            for kind in ("job_start", "suspected", "hang_resolved") * 5:
                put(db, "event", job=f"job-{n}", kind=kind, time_unix_ms=now_ms - 10**6, text="t")
        for n in range(a.incidents):
            put(db, "incident", id=f"i.{n}", job=f"job-{n % a.jobs}", kind="memory_kill", time_unix_ms=now_ms - n, json=report)
    return len(text), len(report)


def scrape(state, rounds):
    took, cpu, size = [], [], 0
    for _ in range(rounds):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        size = len(subprocess.run([VIGIL, "metrics", "--state", state], capture_output=True, check=True).stdout)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(time.monotonic() - began)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return took, cpu, size, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def watched(state, seconds=12):
    """Processor time of a round of --watch after the first, which read everything."""
    p = subprocess.Popen([VIGIL, "metrics", "--state", state, "--format", "openmetrics", "--watch", "1s"], stdout=subprocess.PIPE)
    marks = []
    for line in p.stdout:
        if line == b"# EOF\n":
            ticks = open(f"/proc/{p.pid}/stat").read().rsplit(")", 1)[1].split()
            marks.append((int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK"))
            if len(marks) > seconds:
                break
    p.kill()
    p.wait()
    return (marks[-1] - marks[1]) / (len(marks) - 2)


def served(state, rounds):
    """(seconds that a scrape takes, seconds that others wait meanwhile) of the page's server."""
    server = Server(VIGIL, {**os.environ, "VIGIL_STATE_DIR": str(state)})
    others, scrapes = [], []
    try:
        server.get("/metrics")  # reads everything
        with ThreadPoolExecutor(1) as pool:
            for _ in range(rounds):
                scrape = pool.submit(server.get, "/metrics")
                while not scrape.done():
                    others.append(server.get("/api/v1/me")[0])
                scrapes.append(scrape.result()[0])
    finally:
        server.process.terminate()
        server.process.wait()
    return scrapes, others


def main():
    p = argparse.ArgumentParser()
    for name, default in (("jobs", 64), ("ranks", 8), ("incidents", 1000), ("samples", 2000), ("rounds", 20)):
        p.add_argument(f"--{name}", type=int, default=default)
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as d:
        state = pathlib.Path(d)
        subprocess.run([VIGIL, "run", "--state", state, "--", "true"], check=True, capture_output=True)
        series_bytes, report_bytes = fill(state, a)
        took, cpu, size, rss = scrape(state, a.rounds)
        scrapes, others = served(state, a.rounds)
        others.sort()
        print(json.dumps({"bench": "metrics", **vars(a), "served_ms": round(statistics.median(scrapes) * 1000, 1),
                          "others_ms": round(statistics.median(others) * 1000, 1), "others_p99_ms": round(others[len(others) * 99 // 100] * 1000, 1), "others_worst_ms": round(others[-1] * 1000, 1),
                          "load": round(os.getloadavg()[0], 1), "series_bytes": series_bytes, "report_bytes": report_bytes,
                          "scrape_ms": round(statistics.median(took) * 1000, 1), "scrape_worst_ms": round(max(took) * 1000, 1),
                          "cpu_ms": round(statistics.median(cpu) * 1000, 1), "watch_cpu_ms": round(watched(state) * 1000, 1),
                          "answer_bytes": size, "rss_kib": rss}))


if __name__ == "__main__":
    main()
