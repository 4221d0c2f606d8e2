#!/usr/bin/env python3
"""Run the programs of truth4.json alone and see, by /proc, that each is what cases4.py says of it.

check4.py [-j N] [-k REGEX] [--class hang|benign] [--bin DIR] [--python FILE]

hang: within 60 s every role named in `see` is in its state at two looks 3 s apart, without a switch of context in
between if it sleeps for good. A state is CALL[>ROLE][@FRAME]: a regex of "state call wchan" of the first thread (`*`: of any
thread); ROLE, who holds the other end of the descriptor, the file lock, or is the child; FRAME, a regex over py-spy's dump, where
py-spy is there. `gone`: it has ended; `stopped`; `spin`: it uses a processor; `moves`: it may wake (retries, ticks).
benign: ends with 0 after about `seconds`, and there were 15 s at a stretch without output."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import cases4
from check import NR

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import score  # noqa: E402


def text(path):
    try:
        return pathlib.Path(path).read_text(errors="replace")
    except OSError:
        return ""


def threads(pid):
    """tid -> (line, switches, first argument, second)."""
    found = {}
    try:
        names = sorted(os.listdir(f"/proc/{pid}/task"), key=int)
    except OSError:
        return found
    for tid in names:
        base = f"/proc/{pid}/task/{tid}/"
        state = text(base + "stat").rpartition(")")[2].split()[:1] or ["?"]
        words = text(base + "syscall").split() or ["?"]
        call = NR.get(int(words[0]), words[0]) if words[0].isdigit() else words[0]
        switches = sum(int(x) for x in re.findall(r"ctxt_switches:\s+(\d+)", text(base + "status")))
        found[int(tid)] = (f"{state[0]} {call} {text(base + 'wchan')}", switches, [int(w, 16) for w in words[1:3] if w.startswith("0x")])
    return found


def holders(link, mode=None):
    """pids with a descriptor of that target; mode "r" or "w": those that may do so."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            for fd in os.listdir(f"/proc/{pid}/fd"):
                if os.readlink(f"/proc/{pid}/fd/{fd}") != link:
                    continue
                flags = int(re.search(r"flags:\s+(\d+)", text(f"/proc/{pid}/fdinfo/{fd}"))[1], 8) & 3
                if mode is None or flags == 2 or flags == (mode == "w"):
                    found.add(int(pid))
        except (OSError, TypeError):
            pass
    return found


def tcp_peer(inode):
    rows = [ln.split() for ln in text("/proc/net/tcp").splitlines()[1:]]
    mine = next((r for r in rows if r[9] == inode), None)
    other = mine and next((r for r in rows if (r[1], r[2]) == (mine[2], mine[1])), None)
    return holders(f"socket:[{other[9]}]") if other else set()


def unix_peer(inode):
    for row in subprocess.run(["ss", "-xaH"], capture_output=True, text=True).stdout.splitlines():
        words = row.split()
        if len(words) > 7 and words[5] == inode:
            return holders(f"socket:[{words[7]}]")
    return set()


def waited_for(pid, line, args):
    """pids that could end this wait, for the calls where the kernel tells."""
    call = line.split()[1]
    if call in ("wait4", "waitid"):
        wanted = args[1] if call == "waitid" else args[0]
        return {wanted} if 0 < wanted < 1 << 31 else set(map(int, text(f"/proc/{pid}/task/{pid}/children").split()))
    link = os.readlink(f"/proc/{pid}/fd/{args[0]}")
    if call in ("flock", "fcntl"):
        inode = os.stat(f"/proc/{pid}/fd/{args[0]}").st_ino
        rows = [ln.split() for ln in text("/proc/locks").splitlines()]
        return {int(w[4]) for w in rows if w[1] != "->" and w[5].endswith(f":{inode}")}
    if link.startswith("socket:"):
        return tcp_peer(link[8:-1]) or unix_peer(link[8:-1])
    return holders(link, "w" if call.startswith("read") else "r") - {pid}


def frames(pid, python):
    spy = pathlib.Path(python).parent / "py-spy"
    spy = str(spy) if spy.exists() else shutil.which("py-spy")
    if not spy:
        return None
    return subprocess.run([spy, "dump", "--nonblocking", "-p", str(pid)], capture_output=True, text=True).stdout


def sorry(name, want, now, before, roles, python):
    """What is not as wanted with one role; None if all is."""
    pid = roles[name][-1] if name in roles else None
    if pid is None:
        return "never noted"
    now, before = now.get(pid, {}), before.get(pid, {})
    state = now.get(pid, ("", 0, []))[0][:1]
    if want == "gone":
        return None if state in ("", "Z", "X") else f"is not gone: {state}"
    if not now:
        return "is gone"
    if want == "stopped":
        return None if state in "Tt" else state
    wanted, _, frame = want.partition("@")
    wanted, _, peer = wanted.partition(">")
    line = wanted.lstrip("*~")
    if "*" not in wanted:
        now = {pid: now[pid]}
    fitting = {t: v for t, v in now.items() if re.search(line, v[0]) and t in before and ("~" in wanted or v[1] == before[t][1])}
    if not fitting:
        return f"{line} wanted: {[v[0] for v in now.values()]}" + ("" if "~" in wanted else " or it moved")
    if peer and not any(set(roles.get(peer, [-1])) & waited_for(pid, v[0], v[2]) for v in fitting.values()):
        return f"does not wait for {peer}: {[waited_for(pid, v[0], v[2]) for v in fitting.values()]}"
    stack = frames(pid, python) if frame else None
    if stack is not None and not re.search(frame, stack):
        return f"no frame {frame}: {stack}"
    return None


def ticks(pid):
    words = text(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return int(words[11]) + int(words[12]) if len(words) > 12 else 0


def looks(run, see):
    roles = {k: [int(p) for p in v] for k, v in run.roles().items()}
    pids = [roles[n][-1] for n in see if n in roles]
    before, used = {p: threads(p) for p in pids}, {p: ticks(p) for p in pids}
    time.sleep(3)
    now = {p: threads(p) for p in pids}
    bad = {}
    for name, want in see.items():
        if want == "spin":
            cpu = ticks(roles[name][-1]) - used[roles[name][-1]] if name in roles else 0
            problem = None if cpu > 8 else f"does not spin: {cpu} ticks in 3 s"
        else:
            problem = sorry(name, want, now, before, roles, run.args.python)
        if problem:
            bad[name] = problem
    return bad


class Alone(score.Run):
    """A case without a watcher."""

    def start(self, argv):
        return subprocess.Popen(argv, env=self.env, stdin=subprocess.DEVNULL, stdout=open(self.dir / "out", "wb"),
                                stderr=subprocess.STDOUT, cwd=self.dir, start_new_session=True)

    def output(self):
        return text(self.dir / "out")

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except OSError:
            pass
        super().end()


def hang(run, case):
    end, bad = time.monotonic() + 60, {"": "nothing looked at"}
    while bad and time.monotonic() < end:
        time.sleep(1)
        if run.process.poll() is not None:
            return f"ended with {run.process.returncode}: {run.output()[-600:]}"
        bad = looks(run, case["see"])
    if "Traceback" in run.output() and not case.get("loud"):
        bad["output"] = run.output()[-600:]
    return "; ".join(f"{k}: {v}" for k, v in bad.items())


def benign(run, case):
    begin, size, since, quiet = time.monotonic(), 0, time.monotonic(), 0
    while run.process.poll() is None and time.monotonic() - begin < case["seconds"] * 2 + 60:
        time.sleep(0.5)
        if (run.dir / "out").stat().st_size != size:
            size, since = (run.dir / "out").stat().st_size, time.monotonic()
        quiet = max(quiet, time.monotonic() - since)
    took = time.monotonic() - begin
    if run.process.returncode != 0:
        return f"code {run.process.returncode} after {took:.0f} s: {run.output()[-600:]}"
    if abs(took - case["seconds"]) > 25:
        return f"took {took:.0f} s, {case['seconds']} said"
    return "" if quiet > 15 else f"quiet for {quiet:.0f} s only"


def check(args, case, bin_dir):
    lacks = score.missing(case, args.python)
    if lacks:
        return case["name"], None, f"needs {lacks}"
    run = Alone(args, case, HERE, bin_dir)
    if run.absent:
        return case["name"], None, f"needs {case['run'][0]}"
    try:
        problem = (hang if case["class"] == "hang" else benign)(run, case)
    except Exception as error:  # a program that ended between two looks
        problem = repr(error)
    finally:
        run.end()
    return case["name"], not problem, problem


def main(every=cases4.CASES):
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("-j", type=int, default=4)
    p.add_argument("-k", default="")
    p.add_argument("--class", dest="sort", choices=["hang", "benign"])
    p.add_argument("--bin", default=tempfile.gettempdir() + "/corpus4-bin")
    p.add_argument("--python", default=sys.executable)
    args = p.parse_args()
    os.environ["PATH"] = f"{pathlib.Path(args.python).parent}:{os.environ['PATH']}"
    cases = [c for c in every if re.search(args.k, c["name"]) and args.sort in (None, c["class"])]
    bin_dir = pathlib.Path(args.bin)
    bin_dir.mkdir(exist_ok=True)
    score.compiled(HERE, bin_dir, score.stems(cases))
    count = {True: 0, False: 0, None: 0}
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        for done in concurrent.futures.as_completed([pool.submit(check, args, c, bin_dir) for c in cases]):
            name, good, problem = done.result()
            count[good] += 1
            print({True: "ok  ", False: "BAD ", None: "skip"}[good], name, problem, flush=True)
    print(f"good {count[True]}, bad {count[False]}, skipped {count[None]}")
    return 1 if count[False] else 0


if __name__ == "__main__":
    sys.exit(main())
