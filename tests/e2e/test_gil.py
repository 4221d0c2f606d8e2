"""Who has the interpreter's lock and who waits for it, in every CPython that has one."""
import pytest

import pythons
from conftest import WORKLOADS, wait_for

PYTHONS = [p for p in pythons.find() if not p.free_threaded]


@pytest.fixture
def held(begin):
    """The process of a Python in which one thread holds the lock in C, and another one wants it."""
    def start(python):
        process = begin(WORKLOADS / "gil.py", python=python)
        wait_for(lambda: "nanosleep" in open(f"/proc/{process.pid}/wchan").read(), what="the main thread to sleep")
        return process
    return start


@pytest.mark.parametrize("python", PYTHONS, ids=str)
def test_the_holder_and_the_waiter_are_told_apart(vigil, held, python):
    process = held(python)

    def look():
        """The waiter looks up each 5 ms; then it waits for nothing."""
        threads = vigil("stack", process.pid, "--json").json()["processes"][0]["threads"]
        return [(t["tid"] == process.pid, t["holds_gil"], t["waits_for_gil"]) for t in threads]
    wait_for(lambda: look() == [(True, True, False), (False, False, True)], 10, "one to hold it, the other one to wait")


@pytest.mark.parametrize("python", PYTHONS, ids=str)
def test_doctor_tells_the_wait_from_that_for_another_lock(vigil, held, python):
    process = held(python)
    result = vigil("doctor", process.pid, "--for", 1, "--json")
    rows = {t["tid"]: t["time"] for p in result.json()["watched"]["processes"] for t in p["threads"]}
    waiter, = [time for tid, time in rows.items() if tid != process.pid]
    # what is left is waiting for a processor, after each look
    assert waiter.get("gil", 0) > 0.2 and not {"lock", "mutex"} & set(waiter), rows


@pytest.mark.parametrize("python", PYTHONS, ids=str)
def test_a_flame_graph_shows_the_wait(vigil, held, python):
    process = held(python)
    result = vigil("flame", process.pid, "-d", 1, "--idle", "--format", "folded")
    assert result.status == 0, result
    rows = dict(line.rsplit(" ", 1) for line in result.out.decode().splitlines())
    waits = sum(int(n) for stack, n in rows.items() if "wants_it (" in stack and "[waiting for the GIL]" in stack)
    wants = sum(int(n) for stack, n in rows.items() if "wants_it (" in stack)
    # it looks up each 5 ms, and on a busy machine waits for a processor then
    assert wants >= 50 and waits > 0.4 * wants, result
    assert not any("<module>" in stack and "[waiting for the GIL]" in stack and "wants_it" not in stack for stack in rows), rows
