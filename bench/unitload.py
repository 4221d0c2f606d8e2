#!/usr/bin/python3
"""Inside the throw-away machine, for unit.sh: the jobs, and what the service takes meanwhile.

    unitload.py watch JOBS PROCESSES MINUTES WORK_MS
    unitload.py job PROCESSES WORK_MS [NAME]     a job: steps, and work in each process
    unitload.py hostile PROGRAM                  a job that stands still, and whose table of frames is a hole
"""
import json
import os
import struct
import subprocess
import sys
import time

UNIT = "vigil-agent.service"
HOLE = 1 << 30


def work(ms):
    end = time.process_time() + ms / 1000
    while time.process_time() < end:
        pass


def job(processes, work_ms, _name=""):
    for _ in range(processes - 1):
        if os.fork() == 0:
            break
    step = 0
    while True:
        work(work_ms)
        step += 1
        if step % 10 == 0:
            print(f"step {step} loss {1 / step:.4f}", flush=True)
        time.sleep(1)


def hole_make(program, to):
    """The section .eh_frame of the copy is a hole behind its end."""
    data = bytearray(open(program, "rb").read())
    at, size, n, names_at = *struct.unpack_from("<Q", data, 0x28), *struct.unpack_from("<HHH", data, 0x3a)
    names = struct.unpack_from("<Q", data, at + names_at * size + 0x18)[0]
    for i in range(n):
        row = at + i * size
        name = names + struct.unpack_from("<I", data, row)[0]
        if data[name:data.index(0, name)] == b".eh_frame":
            struct.pack_into("<QQ", data, row + 0x18, len(data), HOLE)
    with open(to, "wb") as f:
        f.write(data)
        f.truncate(len(data) + HOLE)


def hostile(program):
    hole_make(program, "/var/tmp/hole")
    os.chmod("/var/tmp/hole", 0o755)
    os.execv("/var/tmp/hole", ["/var/tmp/hole", "unitload.py"])


def shown(name):
    return subprocess.run(["systemctl", "show", "-P", name, UNIT], text=True, capture_output=True).stdout.strip()


def number(text):
    """systemd says "[not set]" of what it does not count."""
    return int(text) if text.isdigit() else 0


def read(path):
    try:
        with open(path) as f:
            return f.read()
    except OSError:
        return ""


def counted(group):
    """What the unit's control group takes, in either version of control groups; {} of what a version does not tell."""
    if os.path.exists(f"/sys/fs/cgroup{group}/memory.current"):
        memory = pids = "/sys/fs/cgroup" + group
        names = {"memory": "memory.current", "peak": "memory.peak", "anon": "anon"}
        events = dict(line.split() for line in read(memory + "/memory.events").splitlines())
        at_limit = int(events.get("max", 0))
    else:
        memory, pids = f"/sys/fs/cgroup/memory{group}", f"/sys/fs/cgroup/pids{group}"
        names = {"memory": "memory.usage_in_bytes", "peak": "memory.max_usage_in_bytes", "anon": "total_rss"}
        events = dict(line.split() for line in read(memory + "/memory.oom_control").splitlines())
        at_limit = int(read(memory + "/memory.failcnt") or 0)
    stat = dict(line.split() for line in read(memory + "/memory.stat").splitlines())
    tasks = int(read(pids + "/pids.current") or 0)
    return {"memory": int(read(f"{memory}/{names['memory']}") or 0), "anon": int(stat.get(names["anon"], 0)),
            "peak": int(read(f"{memory}/{names['peak']}") or 0), "tasks": tasks, "tasks_peak": int(read(pids + "/pids.peak") or tasks),
            "oom_kill": int(events.get("oom_kill", 0)), "at_limit": at_limit}


def largest(group, n=4):
    """[[name, MiB of anonymous memory], …] of the unit's processes, the largest first."""
    rows = []
    for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/memory"):
        for pid in read(f"{root}{group}/cgroup.procs").split():
            words = dict(line.split(":", 1) for line in read(f"/proc/{pid}/status").splitlines() if ":" in line)
            if "RssAnon" in words:
                rows.append([words["Name"].strip(), round(int(words["RssAnon"].split()[0]) / 1024, 1)])
    return sorted(rows, key=lambda row: -row[1])[:n]


def measure(started):
    group = shown("ControlGroup")
    cpu_ns = number(shown("CPUUsageNSec")) or number(read(f"/sys/fs/cgroup/cpuacct{group}/cpuacct.usage").strip())
    row = {"minute": round((time.monotonic() - started) / 60, 1), "restarts": number(shown("NRestarts")), "state": shown("ActiveState"),
           **counted(group), "largest": largest(group), "cpu_s": round(cpu_ns / 1e9, 1), "load": os.getloadavg()[0],
           "adopted": sum(name != "agent" for name in os.listdir("/var/lib/vigil/jobs"))}
    print(json.dumps(row), flush=True)
    return row


def watch(jobs, processes, minutes, work_ms):
    me = "/w/unitload.py"  # this one is read from stdin: by its name it would be a job itself
    null = subprocess.DEVNULL
    for _ in range(jobs - 1):
        subprocess.Popen([sys.executable, "-S", me, "job", str(processes), str(work_ms)], stdout=null, stdin=null)
    subprocess.Popen([sys.executable, me, "hostile", "/w/hostile"], stdout=null, stdin=null)
    started = time.monotonic()
    rows = []
    while not rows or rows[-1]["minute"] < minutes:
        time.sleep(60)
        rows.append(measure(started))
    early = min(rows, key=lambda row: abs(row["minute"] - 5))
    said = subprocess.run(["journalctl", "-u", UNIT, "-o", "cat", "--no-pager"], text=True, capture_output=True).stdout.splitlines()
    died = [line for line in said if "died" in line or "killed" in line.lower()]
    print(json.dumps({"end": rows[-1], "memory_minute_5": early["memory"], "anon_minute_5": early["anon"], "died": died[:20]}), flush=True)


def sum_up(report):
    """Of each machine how long it was watched, and the worst that was seen; a machine that was cut off has no last line."""
    runs = []
    for line in read(report).splitlines():
        try:
            row = json.loads(line)
        except ValueError:  # it was cut off in the middle
            continue
        if "begun" in row:
            runs.append(dict(row, rows=[], died=[]))
        elif "minute" in row:
            runs[-1]["rows"].append(row)
        else:
            runs[-1]["died"] += row["died"]
    for run in runs:
        rows = run.pop("rows")
        worst = {f"most_{k}": max((r[k] for r in rows), default=None) for k in ("restarts", "peak", "tasks_peak", "oom_kill", "adopted")}
        run["minutes"] = rows[-1]["minute"] if rows else 0
        print(json.dumps({**run, **worst, "states": sorted({r["state"] for r in rows})}), flush=True)
    print(json.dumps({"machines": len(runs), "minutes_in_all": round(sum(run["minutes"] for run in runs), 1)}), flush=True)


if __name__ == "__main__":
    what, *words = sys.argv[1:]
    {"job": job, "watch": watch, "hostile": hostile, "sum": sum_up}[what](*(int(w) if w.isdigit() else w for w in words))
