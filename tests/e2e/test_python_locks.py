"""Who holds Python's own locks, and who could still release them, told from outside: tests/tool/pywaits against programs
that know the truth. Every Python of this machine (tests/pythons.py).

VIGIL_TEST_LOCK_STATES is the number of random states, 2,000 unless told; VIGIL_TEST_LOCK_SEED where they begin.
VIGIL_TEST_LOCK_PROGRAMS is the number of random programs for each Python, 300 unless told (bench/holders.py: many)."""
import collections
import contextlib
import json
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import holderkit  # noqa: E402
import pythons  # noqa: E402
from conftest import ROOT, WORKLOADS, wait_for  # noqa: E402

FOUND = [p for p in pythons.find(at_least=(3, 8)) if not p.free_threaded]
FREE_THREADED = [p for p in pythons.find(at_least=(3, 8)) if p.free_threaded]
every_python = pytest.mark.parametrize("python", FOUND, ids=str)
STATES = int(os.environ.get("VIGIL_TEST_LOCK_STATES", "2000"))
SEED = int(os.environ.get("VIGIL_TEST_LOCK_SEED", "1"))
THREADS = 100


@pytest.fixture(scope="module")
def look(binary):
    tool = binary.parents[2] / "tests/tool/pywaits"
    tool = tool if tool.exists() else ROOT / "build/tests/tool/pywaits"
    assert tool.exists(), f"{tool} is not built"

    def read(pid):
        done = subprocess.run([tool, str(pid)], capture_output=True, text=True, timeout=60, check=True)
        seen = json.loads(done.stdout)
        assert seen["result"] == 0
        return {h["tid"]: h for h in seen["hints"]}
    return read


@contextlib.contextmanager
def running(python, script, *args):
    """The process and the first line that it writes."""
    placed = python.place(script)
    process = subprocess.Popen([*python.argv, placed, *map(str, args)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True, env=python.env())
    try:
        line = process.stdout.readline()
        assert line, "it ended"
        yield process, json.loads(line)
    finally:
        process.kill()
        process.communicate(timeout=20)
        python.unplace(placed)


@contextlib.contextmanager
def waiting(python, script, *args):
    """The same, once all its threads stand still."""
    with running(python, script, *args) as (process, line):
        before = [None]

        def still():
            now = turns(process.pid)
            same, before[0] = now == before[0] and now is not None, now
            return same
        wait_for(still, what="all threads to stand still")
        yield process, line


def turns(pid):
    """How often each thread has run; None if one runs."""
    seen = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        seen[task.name] = (task / "schedstat").read_text().split()[2], (task / "syscall").read_text()
        if seen[task.name][1].startswith("running"):
            return None
    return seen


def judge(truth, hints):
    """Counts of what is right, and texts of what is wrong."""
    count, wrong = collections.Counter(), []
    for tid, t in truth.items():
        h = hints.get(int(tid), {"kind": "-", "owner": 0, "proof": False})
        bad = ""
        count["states"] += 1
        count["needed"] += t["need"]
        count["named"] += t["need"] and h["kind"] == "owner"
        count["named for certain"] += t["need"] and h["kind"] == "owner" and h["proof"]
        count["unreachable"] += t["nobody"]
        count["unreachable proved"] += t["nobody"] and h["kind"] == "nobody"
        if h["kind"] == "owner" and h["owner"] != t["owner"]:
            bad = "wrong owner" if h["proof"] or "release()" not in truth[str(h["owner"])]["source"] else ""
            count["wrong but only likely"] += not h["proof"]  # that one gave the lock back inside its `with`
        elif h["kind"] == "nobody" and not t["nobody"]:
            bad = "wrong nobody"
        elif t["need"] and h["kind"] != "owner":
            bad = "holder not found"
        if bad:
            wrong.append(f"{bad}: {tid} {t['what']} owner {t['owner']}: {h}\n{t['source']}"
                         f"--- the owner:\n{truth.get(str(t['owner']), {}).get('source')}")
    return count, wrong


@every_python
def test_for_how_many_a_barrier_is_is_read(python, look):
    with waiting(python, WORKLOADS / "barriers.py") as (process, line):
        hints = look(process.pid)
        told = {tid: (hints[tid]["parties"], hints[tid]["place"]) for tid in (line["main"], *line["threads"])}
        assert told[line["main"]] == (5, 1)
        assert sorted(told[t] for t in line["threads"]) == [(4, 1), (4, 2)]
        assert "Barrier.wait for 5" in hints[line["main"]]["text"]


@every_python
def test_random_states_of_locks_are_read_without_an_error(python, look):
    total, faults = collections.Counter(), []
    rounds = max(1, round(STATES / THREADS / len(FOUND)))
    begin = SEED + 10000 * FOUND.index(python)  # another program for each
    for seed in range(begin, begin + rounds):
        with waiting(python, WORKLOADS / "lockstates.py", seed, THREADS) as (process, truth):
            count, wrong = judge(truth, look(process.pid))
        total += count
        faults += [f"seed {seed}: {w}" for w in wrong]
    print(f"{python}: {dict(total)}, wrong {len(faults)}")
    assert not faults, "\n".join(faults[:3]) + f"\n{len(faults)} wrong of {dict(total)}"
    assert total["needed"] > 5 * rounds and total["named"] == total["needed"]
    assert total["named for certain"] > 0.8 * total["needed"]
    assert total["unreachable"] > 5 * rounds and total["unreachable proved"] > 0.15 * total["unreachable"]


@every_python
def test_whoever_holds_a_lock_by_with_is_found_in_random_programs(python, binary):
    count, wrong = holderkit.check(python, holderkit.tool_of(binary), holderkit.programs_of_test(300), SEED)
    assert not wrong, "\n".join(wrong[:3]) + f"\n{len(wrong)} wrong of {dict(count)}"
    assert count["told"] == count["needed"] > count["programs"] and count["sure"] > 0.8 * count["needed"]


LINE = {name: 1 + (WORKLOADS / "pylocks.py").read_text().splitlines().index(text) for name, text in
        {"a": "    with a:", "b": "        with b:", "queue": "    q.get()", "shared": "    shared.get()"}.items()}
# What each thread of workloads/pylocks.py waits for: kind, owner, how the text begins.
WAITS = {
    "t_wants_a": ("owner", "t_holds_a_b", "threading.Lock at pylocks.py:"),
    "t_wants_b": ("owner", "t_holds_a_b", "threading.Lock at pylocks.py:"),
    "t_wants_condition": ("owner", "t_holds_condition", "Condition at pylocks.py:"),
    "t_wants_rlock": ("owner", "t_holds_condition", "threading.RLock at pylocks.py:"),
    "t_queue": ("nobody", None, f"queue.Queue.get at pylocks.py:{LINE['queue']} in t_queue"),
    "t_shared_queue": ("text", None, f"queue.Queue.get at pylocks.py:{LINE['shared']} in t_shared_queue"),
    "t_event": ("nobody", None, "Event.wait at pylocks.py:"),
    "t_condition": ("nobody", None, "Condition.wait at pylocks.py:"),
    "t_shared_condition": ("text", None, "Condition.wait at pylocks.py:"),
    "t_own_lock": ("nobody", None, "threading.Lock at pylocks.py:"),
    "t_own_with": ("owner", "t_own_with", "threading.Lock at pylocks.py:"),
    "t_simple": ("nobody", None, "queue.SimpleQueue at pylocks.py:"),
    "t_shared_simple": ("text", None, "queue.SimpleQueue at pylocks.py:"),
    "t_timed": ("text", None, "queue.Queue.get at pylocks.py:"),
    "t_pool": ("owner", "worker", "Future.result at pylocks.py:"),
    "t_future": ("nobody", None, "Future.result at pylocks.py:"),
    "t_wants_multiprocessing": ("owner", "t_holds_multiprocessing", "Lock at pylocks.py:"),
    "t_join": ("owner", "t_sleeper", "Thread.join of thread "),
    "t_object": ("nobody", None, "queue.Queue.get at pylocks.py:"),
}


@every_python
def test_each_kind_of_wait_is_told_in_words(python, look):
    with waiting(python, WORKLOADS / "pylocks.py") as (process, tids):
        hints = look(process.pid)
    names = {tid: name for name, tid in tids.items()}
    seen = {names[tid]: (h["kind"], names.get(h["owner"]), h["text"]) for tid, h in hints.items()}
    assert {n: s[:2] for n, s in seen.items()} == {n: w[:2] for n, w in WAITS.items()}
    assert [n for n, w in WAITS.items() if not seen[n][2].startswith(w[2])] == []
    assert all(h["proof"] for h in hints.values())
    assert f"of thread {tids['t_sleeper']} (t_sleeper) at pylocks.py:" in seen["t_join"][2]
    assert hints[tids["t_wants_a"]]["owner_text"] == f"with lock at pylocks.py:{LINE['a']} in t_holds_a_b"
    assert hints[tids["t_wants_rlock"]]["owner_text"].startswith("with lock at pylocks.py:")
    assert hints[tids["t_wants_b"]]["owner_text"] == f"with lock at pylocks.py:{LINE['b']} in t_holds_a_b"


@every_python
def test_an_owner_that_was_inherited_over_fork_is_no_proof(python, look):
    """The parent has the lock; in the child its count says that the child's own main thread has it."""
    with running(python, WORKLOADS / "pylocks.py", "fork") as (process, child):
        hint = wait_for(lambda: look(child["pid"]).get(child["tid"]), what="the wait to be seen")
    assert hint["kind"] == "owner" and not hint["proof"]


@every_python
def test_nothing_wrong_is_told_of_threads_that_run(python, look):
    with running(python, WORKLOADS / "lockbusy.py") as (process, line):
        sides = [set(s) for s in line["tids"]]
        for _ in range(20):
            for tid, h in look(process.pid).items():
                assert h["kind"] != "nobody", h
                side = next((s for s in sides if tid in s), set())
                assert h["kind"] != "owner" or "Condition" in h["text"] or h["owner"] in side, h


@pytest.mark.parametrize("python", FREE_THREADED, ids=str)
def test_nothing_is_told_of_a_python_without_a_global_lock(python, look):
    with running(python, WORKLOADS / "pylocks.py") as (process, _):
        assert look(process.pid) == {}
