#!/usr/bin/python3
"""What memory does the node service take beside N jobs, and which of its processes takes it?

    agentmem.py [--jobs 1,16,64] [--processes 8] [--seconds 60] [--work-ms 2] [--maps]

For each number of jobs: an agent in a fresh state directory, jobs of that many processes that work and print, and after so many
seconds one JSON line: PSS of each of vigil's processes (children of the watcher are counted by themselves), the private part, the
largest sum met, and the processor time since the start. --maps: the largest mappings of the watcher as well.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
VIGIL = os.environ.get("VIGIL", str(HERE.parent / "build/src/cli/vigil"))


def read(path):
    try:
        with open(path) as f:
            return f.read()
    except OSError:
        return ""


def children(pid):
    return [int(c) for c in read(f"/proc/{pid}/task/{pid}/children").split()]


def family(pid):
    return [pid] + [p for c in children(pid) for p in family(c)]


def rollup(pid):
    rows = (line.split() for line in read(f"/proc/{pid}/smaps_rollup").splitlines()[1:])
    return {row[0].rstrip(":"): int(row[1]) for row in rows if len(row) == 3}


def cpu_s(pid):
    fields = read(f"/proc/{pid}/stat").rsplit(")", 1)[-1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0


def look(agent):
    found = {}
    for pid in family(agent):
        name, r = read(f"/proc/{pid}/comm").strip(), rollup(pid)
        if not r:
            continue
        name = "supervisor" if pid == agent else name
        name = "child" if name in found else name
        row = found.setdefault(name, {"pid": pid, "pss_mib": 0, "private_mib": 0, "cpu_s": 0})
        row["pss_mib"] = round(row["pss_mib"] + r["Pss"] / 1024, 1)
        row["private_mib"] = round(row["private_mib"] + (r["Private_Dirty"] + r["Private_Clean"]) / 1024, 1)
        row["cpu_s"] = round(row["cpu_s"] + cpu_s(pid), 1)
    return found


def maps(pid, most=12):
    rows, head = [], ""
    for line in read(f"/proc/{pid}/smaps").splitlines():
        words = line.split()
        if "-" in words[0] and not words[0].endswith(":"):
            head = f"{words[0]} {words[1]} {words[5] if len(words) > 5 else ''}"
        elif words[0] == "Pss:":
            rows.append((int(words[1]), head))
    return [f"{kb} KiB {head}" for kb, head in sorted(rows, reverse=True)[:most]]


def adopted(state):
    try:
        return sum(name != "agent" for name in os.listdir(state / "jobs"))
    except OSError:
        return 0


def run(n, a):
    null = subprocess.DEVNULL
    with tempfile.TemporaryDirectory(prefix="agentmem-") as folder:
        state = pathlib.Path(folder)
        word = f"agentmem-{os.getpid()}-{n}"
        (state / "vigil.yaml").write_text(f"agent:\n  command: [{word}]\n")
        env = {**os.environ, "VIGIL_STATE_DIR": str(state), "VIGIL_CONFIG": str(state / "vigil.yaml")}
        jobs = [subprocess.Popen([sys.executable, "-S", str(HERE / "unitload.py"), "job", str(a.processes), str(a.work_ms), word],
                                 stdout=null, stdin=null, start_new_session=True) for _ in range(n)]
        agent = subprocess.Popen([VIGIL, "agent"], env=env, stdout=null, stderr=open(state / "said", "w"), stdin=null)
        try:
            began, peak, row = time.monotonic(), 0, {}
            while time.monotonic() < began + a.seconds:
                time.sleep(2)
                row = look(agent.pid)
                peak = max(peak, round(sum(r["pss_mib"] for r in row.values()), 1))
            out = {"jobs": n, "processes": a.processes, "adopted": adopted(state), "sum_mib": round(sum(r["pss_mib"] for r in row.values()), 1),
                   "peak_mib": peak, **{k: {x: y for x, y in r.items() if x != "pid"} for k, r in row.items()}}
            print(json.dumps(out), flush=True)
            for line in maps(row["vigil-hang"]["pid"]) if a.maps and "vigil-hang" in row else []:
                print("  " + line, flush=True)
        finally:
            agent.terminate()
            agent.wait(60)
            for job in jobs:
                os.killpg(job.pid, 9)
                job.wait()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--jobs", default="1,16,64")
    p.add_argument("--processes", type=int, default=8)
    p.add_argument("--seconds", type=int, default=60)
    p.add_argument("--work-ms", type=int, default=2)
    p.add_argument("--maps", action="store_true")
    a = p.parse_args()
    for n in (int(x) for x in a.jobs.split(",")):
        run(n, a)


main()
