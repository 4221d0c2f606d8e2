"""Is whoever holds a lock by `with` read right, from outside? tests/workloads/lockprograms.py knows; tests/tool/pywaits -H
reads. check() runs random programs on one Python."""
import collections
import contextlib
import json
import os
import pathlib
import select
import subprocess
import time

WORKLOADS = pathlib.Path(__file__).resolve().parents[1] / "workloads"
AT_ONCE = 50  # programs that stand at the same time


def turns(pid):
    """How often each thread has run, and its call; None if one runs."""
    seen = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        seen[task.name] = (task / "schedstat").read_text().split()[2], (task / "syscall").read_text()
        if seen[task.name][1].startswith("running"):
            return None
    return seen


def wait_still(pid, seconds=60):
    until, before = time.monotonic() + seconds, None
    while True:
        now = turns(pid)
        if now is not None and now == before:
            return
        assert time.monotonic() < until, "its threads do not stand still"
        before = now
        time.sleep(0.01)


def shown(source):
    return "\n".join(line[:120] for line in source.splitlines())


def judge(truth, told):
    """Counts, and texts of what is wrong."""
    count, wrong = collections.Counter(programs=len(truth)), []
    by_thread = collections.defaultdict(list)
    for h in told:
        by_thread[h["tid"]].append(h)
    for tid, t in truth.items():
        mine = by_thread.pop(int(tid), [])
        got = {h["object"]: h for h in mine}
        count["needed"] += len(set(t["need"]))
        count["told"] += len(set(t["need"]) & set(got))
        count["sure"] += sum(o in got and got[o]["sure"] for o in set(t["need"]))
        for o, h in got.items():
            right = o in t["need"] or o in t["may"] or (o in t["given"] and not h["sure"])
            count["wrong"] += not right
            if not right:
                wrong.append(f"{tid} does not hold this: {h}\n{shown(t['source'])}")
        for o in set(t["need"]) - set(got):
            wrong.append(f"{tid} holds a lock {o:#x} that was not told: {mine}\n{shown(t['source'])}")
    for tid, h in by_thread.items():
        count["wrong"] += 1
        wrong.append(f"{tid} runs no program: {h}")
    return count, wrong


def check(python, tool, programs, seed):
    """Runs that many programs; gives counts, and texts of what is wrong. python: of tests/pythons.py."""
    total, faults = collections.Counter(), []
    placed = python.place(WORKLOADS / "lockprograms.py")
    process = subprocess.Popen([*python.argv, placed, str(seed), str(AT_ONCE)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, env=python.env())
    reader = subprocess.Popen([tool, "-H"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1, text=True)

    def ask(of, line):
        of.stdin.write(f"{line}\n")
        of.stdin.flush()
        said = "\n"
        while said == "\n":  # pywaits ends an answer with an empty line
            assert select.select([of.stdout], [], [], 90)[0], f"{of.args} says nothing"
            said = of.stdout.readline()
        assert said, f"{of.args[0]} ended"
        return json.loads(said)
    try:
        while total["programs"] < programs:
            truth = ask(process, "next")
            wait_still(process.pid)
            seen = ask(reader, process.pid)
            assert seen["result"] == 0, seen
            count, wrong = judge(truth, seen["held"])
            total += count
            total["us"] += seen["us"]
            faults += [f"seed {seed}, program {total['programs']}: {w}" for w in wrong]
            ask(process, "go on")
    finally:
        for p in (process, reader):
            with contextlib.suppress(subprocess.TimeoutExpired, BrokenPipeError):
                p.communicate(timeout=10)  # its input ends, so it does
            p.kill()
            p.wait(30)
        python.unplace(placed)
    return total, faults


def tool_of(binary):
    tool = pathlib.Path(binary).parents[2] / "tests/tool/pywaits"
    return tool if tool.exists() else pathlib.Path(__file__).resolve().parents[2] / "build/tests/tool/pywaits"


def programs_of_test(default):
    return int(os.environ.get("VIGIL_TEST_LOCK_PROGRAMS", default))
