"""Ranks that a Python program starts out of itself: nothing in their environment or command line says which is which."""
import subprocess
import sys

import pytest

from conftest import wait_for, workload
from hangkit import looks

RANKS = 3


@pytest.mark.parametrize("by", ["fork", "spawn", "itself"])
def test_the_rank_that_is_missing_is_named(vigil, by):
    result = vigil("run", "--hang-after", "4s", "--on-hang", "kill", "--",
                   *workload("hangs", "lock", "--culprit", 2, "--at", 60, "--steps", 400, "--spawn", RANKS, "--by", by), timeout=90)
    assert result.status == 124, result
    report = vigil.why()
    assert looks(report) == ("hang", "orphaned_wait", [2]), report
    assert {s.get("rank") for s in report["stacks"]} >= set(range(RANKS)), report
    assert sum(g["count"] for g in report["hang"]["groups"]) == RANKS, report


SERVED = """
import multiprocessing, threading, time

def make(rank):
    threading.Event().wait()

def number(rank):
    return rank

if __name__ == "__main__":
    pool = multiprocessing.get_context("%s").Pool(2)
    for step in range(30):
        pool.map(number, range(4))
        print(f"step {step}", flush=True)
        time.sleep(0.1)
    pool.map(make, range(2))
"""


@pytest.mark.parametrize("by", ["fork", "spawn"])
def test_a_pool_s_workers_are_no_ranks(vigil, tmp_path, by):
    """What they work on may be called a rank all the same."""
    program = tmp_path / "served.py"
    program.write_text(SERVED % by)
    vigil.start("run", "--hang-after", "4s", "--", sys.executable, program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    report = wait_for(lambda: vigil("why", "--json").status == 0 and vigil.why(), 60, "a verdict")
    assert report["kind"] == "hang" and not report.get("culprit_ranks"), report
    assert {s.get("rank") for s in report["stacks"]} <= {None}, report
