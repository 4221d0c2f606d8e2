"""Ranks that a Python program starts out of itself: nothing in their environment or command line says which is which."""
import subprocess
import sys

import pytest

from conftest import wait_for, workload
from hangkit import looks, need_bpf

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


AGENT = """
import os, select, signal, socket, subprocess, sys, time
if len(sys.argv) > 1:
    if sys.argv[1] == "1":
        signal.signal(signal.SIGTERM, lambda *_: None)
    to = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
    for step in range(40):
        to.send(b".")
        to.recv(1)
        if sys.argv[1] == "0":
            print(f"step {step}", flush=True)
    if sys.argv[1] == "2":
        time.sleep(1)
        sys.exit(3)
    to.recv(1)
door = socket.create_server(("127.0.0.1", 0))
ranks = [subprocess.Popen([sys.executable, __file__, str(r), str(door.getsockname()[1])],
                          env=dict(os.environ, RANK=str(r), WORLD_SIZE="3")) for r in range(3)]
if os.fork() == 0:
    ends = [door.accept()[0] for _ in range(3)]
    for step in range(40):
        for end in ends:
            end.recv(1)
        time.sleep(0.1)
        for end in ends:
            end.send(b".")
    while True:
        for end in select.select([door, *ends], [], [])[0]:
            if not end.recv(1):
                ends.remove(end)
while all(r.poll() is None for r in ranks):
    time.sleep(0.1)
for r in ranks:
    r.terminate()
for r in ranks:
    r.wait()
"""


def test_who_failed_is_told_from_who_was_ended_for_it(vigil, tmp_path):
    """The launcher has taken the statuses of both, and waits for a rank that does not end when it is asked to."""
    need_bpf(vigil)
    program = tmp_path / "agent.py"
    program.write_text(AGENT)
    vigil.start("run", "--hang-after", "5s", "--", sys.executable, program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    report = wait_for(lambda: vigil("why", "--json").status == 0 and vigil.why(), 60, "a verdict")
    assert looks(report) == ("hang", "dead_rank", [2]), report
    assert "Rank 2 has ended with exit code 3" in report["cause"]["text"], report
    assert "Rank 0 was ended by signal 15 after it." in report["cause"]["text"], report
