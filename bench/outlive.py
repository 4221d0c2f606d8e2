#!/usr/bin/python3
"""Kills any of vigil's processes at any moment, and looks 5 s later at what they have left behind.

    bench/outlive.py [--trials N=20] [--jobs KINDS…] [--subset NAMES…] [--parallel N=2] [--seed N] [--json] [--lines]

A job (print or mute, hog near its limit or quiet) runs under `vigil run --memory-limit`. At a random moment a random
non-empty subset of supervisor, guard, rescue process and watcher gets SIGKILL, together or one right after the other.
5 s later nothing of the job may be in state D, stopped or frozen; where the supervisor is gone no group, limit or brake
may be left, and `vigil why` must name what happened. Where a vigil lives, a hog at its limit has 3 s more: the guard brakes
it there, and ends it. --subset fixes the subset; "all" is every process of vigil, after
which one `vigil jobs` has to clear up. VIGIL is the program (build/src/cli/vigil).
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
VIGIL = os.environ.get("VIGIL", str(ROOT / "build/src/cli/vigil"))
KINDS = [f"{voice}-{size}" for voice in ("print", "mute") for size in ("hog", "quiet")]
PARTS = {"vigil-guard": "guard", "vigil-rescue": "rescue", "vigil-hang": "watcher"}
LIMIT_MIB = 160
PROGRAM = """
import sys, time
voice, size = sys.argv[1].split("-")
held, step = [], 0
while True:
    if size == "hog" or step < 30:
        held.append(bytearray(1 << 20))
    step += 1
    if voice == "print":
        print("step", step, flush=True)
    time.sleep(0.02 if size == "quiet" else 0.08 if step > 130 else 0.008)
"""


def slurp(path):
    try:
        return pathlib.Path(path).read_text().strip()
    except OSError:
        return ""


def children(pid):
    return [int(p) for p in slurp(f"/proc/{pid}/task/{pid}/children").split()]


def alive(pid):
    stat = slurp(f"/proc/{pid}/stat")
    return bool(stat) and stat.rpartition(")")[2].split()[0] not in "ZX"


def state_of(pid):
    stat = slurp(f"/proc/{pid}/stat")
    return stat.rpartition(")")[2].split()[0] if stat else "gone"


def parts_of(supervisor):
    parts = {"supervisor": supervisor}
    for child in children(supervisor):
        name = PARTS.get(slurp(f"/proc/{child}/comm"))
        if name and alive(child):
            parts[name] = child
    return parts


def job_pids(mark):
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            words = slurp(f"/proc/{entry}/cmdline").split("\0")
            if mark in words and "run" not in words and alive(int(entry)):
                found.append(int(entry))
    return found


def groups_of(job):
    """Folders of the job's groups, in every hierarchy mounted here."""
    named = [os.path.join(d, s) for d, subs, _ in os.walk("/sys/fs/cgroup") for s in subs
             if s in (f"vigil-{job}", f"vigil-{job}.scope")]
    return [f"{path}/job" if os.path.isdir(f"{path}/job") else path for path in named]


def group_faults(path, owned):
    """What stands in a group that may not: owned says that a supervisor lives."""
    faults = []
    frozen = slurp(f"{path}/freezer.state") not in ("", "THAWED") or slurp(f"{path}/cgroup.freeze") == "1"
    if frozen:
        faults.append("frozen")
    if owned:
        return faults
    if "oom_kill_disable 1" in slurp(f"{path}/memory.oom_control"):
        faults.append("killer off")
    limit = slurp(f"{path}/memory.limit_in_bytes")
    if (limit and int(limit) < 1 << 50) or slurp(f"{path}/memory.high") not in ("", "max"):
        faults.append("limit")
    return faults + ["group"]


class Trial:
    def __init__(self, kind, seed, subset):
        self.random = random.Random(f"{kind} {seed}")
        self.kind, self.seed, self.fixed = kind, seed, subset
        self.state = tempfile.mkdtemp(prefix="vigil-outlive-")
        self.env = dict(os.environ, VIGIL_STATE_DIR=self.state)
        self.mark = f"mark-{os.getpid()}-{kind}-{seed}"
        self.faults, self.hit, self.cause, self.begun = [], [], "", False
        self.left, self.harmed, self.whole, self.stood = [], False, False, {}

    def start(self):
        self.said = open(f"{self.state}/said", "wb")
        out = subprocess.PIPE if self.kind.startswith("print") else subprocess.DEVNULL
        self.process = subprocess.Popen(
            [VIGIL, "run", "--memory-limit", f"{LIMIT_MIB}M", "--retries", "0", "--", sys.executable, "-c", PROGRAM, self.kind,
             self.mark], env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=self.said, start_new_session=True)
        if self.process.stdout:
            self.drain = subprocess.Popen(["cat"], stdin=self.process.stdout, stdout=subprocess.DEVNULL)
            self.process.stdout.close()
        end = time.monotonic() + 60
        while not job_pids(self.mark) and time.monotonic() < end and self.process.poll() is None:
            time.sleep(0.005)
        self.begun = bool(job_pids(self.mark))

    def strike(self):
        # a hog is near its limit after about a second, and over it one or two seconds later
        time.sleep(self.random.uniform(0.0, 2.4) if "hog" in self.kind else self.random.uniform(0, 1.5))
        parts = parts_of(self.process.pid)
        names = sorted(parts)
        if self.fixed == ["all"]:
            chosen = names
        elif self.fixed:
            chosen = [n for n in names if n in self.fixed]
        else:
            chosen = self.random.sample(names, self.random.randint(1, len(names)))
        if self.random.random() < 0.5:
            for name in chosen:
                self.signal(parts[name], signal.SIGSTOP)
        for name in chosen:
            self.signal(parts[name], signal.SIGKILL)
            if self.random.random() < 0.3:
                time.sleep(self.random.uniform(0, 0.004))
        self.hit = chosen
        self.whole = {"supervisor", "guard", "rescue"} <= set(chosen) or \
            "supervisor" in chosen and not {"guard", "rescue"} & (set(parts) - set(chosen))

    def standing(self):
        """Who is still there, for the harm that is told of."""
        groups = groups_of(self.job() or "-")
        inside = {pid for g in groups for pid in slurp(f"{g}/cgroup.procs").split()}
        return {"job": [f"{p} {state_of(p)}" for p in job_pids(self.mark)],
                "in its group": [f"{p} {slurp(f'/proc/{p}/comm')} {state_of(p)}" for p in inside], "groups": groups}

    @staticmethod
    def signal(pid, number):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass

    def job(self):
        ids = sorted(p.name for p in pathlib.Path(self.state).glob("jobs/*"))
        return ids[0] if ids else None

    def look(self):
        """What is wrong now."""
        owned = self.process.poll() is None
        faults = []
        for pid in job_pids(self.mark):
            state = state_of(pid)
            if state in "DTt":
                time.sleep(0.2)
                if state_of(pid) == state:
                    faults.append(f"state {state}")
        for path in groups_of(self.job() or "-"):
            if owned or not self.whole or job_pids(self.mark):
                faults += group_faults(path, owned)
            else:
                faults += group_faults(path, False)
        return faults

    def vigil(self, *words):
        return subprocess.run([VIGIL, *words], env=self.env, capture_output=True, text=True, timeout=60, check=False)

    def judge(self):
        owned = self.process.poll() is None
        if self.whole:
            self.left, self.stood = self.look(), self.standing()
            self.harmed = any(f != "group" for f in self.left) and bool(self.stood["job"] or self.stood["in its group"])
            self.vigil("jobs")
            deadline = time.monotonic() + 1
        else:
            self.left, self.harmed = [], False
            # a hog that reaches its limit just now is held there by the guard that lives until it ends it
            deadline = time.monotonic() + (3 if owned and "hog" in self.kind else 0)
        faults = self.look()
        while faults and time.monotonic() < deadline:
            time.sleep(0.1)
            faults = self.look()
        if self.whole and job_pids(self.mark):  # it goes on unwatched, in a group without limits
            faults = [f for f in faults if f != "group"]
        self.faults += faults
        if "supervisor" in self.hit and self.process.poll() == -signal.SIGKILL:
            self.report()
        elif owned and "hog" not in self.kind and not job_pids(self.mark):
            said = slurp(f"{self.state}/said").strip()[-400:]
            self.faults.append(f"job gone though its supervisor lives: {said}" if self.begun else "the job had not begun after 60 s")

    def report(self):
        done = self.vigil("why", "--json")
        try:
            told = json.loads(done.stdout)
            self.cause = "memory_kill" if told.get("kind") == "memory_kill" else told.get("cause", {}).get("id", "")
        except ValueError:
            self.cause = ""
        if self.cause not in ("memory_kill", "supervisor_killed", "supervisor_lost"):
            self.faults.append(f"report names nothing ({self.cause or done.stderr.strip()[:80]})")

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.faults.append("vigil does not end: " + self.doing(self.process.pid))
                self.process.kill()
        for pid in job_pids(self.mark):
            self.signal(pid, signal.SIGKILL)
        end = time.monotonic() + 3
        while self.vigil("jobs") and groups_of(self.job() or "-") and time.monotonic() < end:
            time.sleep(0.1)
        for path in groups_of(self.job() or "-"):
            self.faults.append("group at the end: " + self.group_told(path))

    @staticmethod
    def doing(pid):
        """What a vigil that should have ended and its children are at."""
        return "; ".join(f"{p} {slurp(f'/proc/{p}/comm')} {state_of(p)} in {slurp(f'/proc/{p}/syscall')} "
                         f"{' '.join(slurp(f'/proc/{p}/stack').split())[:300]}" for p in [pid, *children(pid)])

    @staticmethod
    def group_told(path):
        """A group that should be gone: where, who is in it and below it, and what systemd says of its unit."""
        inside = [f"{p} {slurp(f'/proc/{p}/comm')} {state_of(p)}" for d, _, _ in os.walk(path)
                  for p in slurp(f"{d}/cgroup.procs").split()]
        below = [os.path.relpath(d, path) for d, _, _ in os.walk(path)]
        unit = next((part for part in path.split("/") if part.endswith(".scope") and part.startswith("vigil-")), "")
        words = ""
        if unit and shutil.which("systemctl"):
            show = ["systemctl", "show", "-p", "ActiveState,SubState,Job,Result", unit]
            words = " ".join(subprocess.run(show, capture_output=True, text=True, timeout=60, check=False).stdout.split())
        return f"{path}, groups {below}, processes {inside}, {words}"

    def clear(self):
        self.signal(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for pid in job_pids(self.mark):
            self.signal(pid, signal.SIGKILL)
        self.said.close()
        shutil.rmtree(self.state, ignore_errors=True)

    def run(self):
        try:
            self.start()
            self.strike()
            time.sleep(5)
            self.judge()
            self.end()
        except subprocess.TimeoutExpired as e:  # a crowded machine: the others are judged all the same
            self.faults.append(f"vigil {e.cmd[1]} took more than {e.timeout} s")
        finally:
            self.clear()
        return self


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--trials", type=int, default=20, help="of each kind")
    p.add_argument("--jobs", nargs="*", default=KINDS, choices=KINDS)
    p.add_argument("--subset", nargs="*", choices=["supervisor", "all", *PARTS.values()])
    p.add_argument("--parallel", type=int, default=2)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--json", action="store_true")
    p.add_argument("--lines", action="store_true", help="a JSON line for each trial as it ends, for runs that may be cut off")
    a = p.parse_args()
    jobs = [(kind, a.seed + i, a.subset) for i in range(a.trials) for kind in a.jobs]
    result = collections.defaultdict(collections.Counter)
    bad = []
    with concurrent.futures.ThreadPoolExecutor(a.parallel) as pool:
        for t in pool.map(lambda j: Trial(*j).run(), jobs):
            count = result[t.kind]
            count["trials"] += 1
            count["everything killed"] += t.whole
            count["harm left until the next vigil"] += t.harmed
            count["empty group left until then"] += bool(t.left) and not t.stood.get("in its group")
            count["bad"] += bool(t.faults)
            count[f"told: {t.cause}"] += bool(t.cause)
            if a.lines:
                print(json.dumps({"kind": t.kind, "seed": t.seed, "killed": t.hit, "whole": t.whole, "harmed": t.harmed, "told": t.cause,
                                  "left": t.left, "faults": t.faults}), flush=True)
            if t.harmed:
                print({"kind": t.kind, "seed": t.seed, "killed": t.hit, "left": t.left, **t.stood}, file=sys.stderr, flush=True)
            if t.faults:
                bad.append({"kind": t.kind, "seed": t.seed, "killed": t.hit, "faults": t.faults})
                print(bad[-1], file=sys.stderr, flush=True)
    if a.json:
        print(json.dumps({"kinds": result, "bad": bad}))
    else:
        for kind, count in result.items():
            print(f"{kind:12} " + ", ".join(f"{k} {v}" for k, v in count.items()))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
