"""Locks of multiprocessing across processes: who holds what another process waits for, on every Python of this machine."""
import json
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import pythons  # noqa: E402
from conftest import WORKLOADS, wait_for  # noqa: E402

FOUND = [p for p in pythons.find(at_least=(3, 8)) if not p.free_threaded]


def in_futex(pid):
    return pathlib.Path(f"/proc/{pid}/syscall").read_text().startswith("202 ")  # futex of x86-64


@pytest.mark.parametrize("python", FOUND, ids=str)
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_the_holder_of_a_lock_of_multiprocessing_is_found_in_its_process(python, method, binary):
    placed = python.place(WORKLOADS / "sharedlock.py")
    process = subprocess.Popen([*python.argv, placed, method], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               env=python.env())
    try:
        truth = json.loads(process.stdout.readline())
        wait_for(lambda: in_futex(truth["waiter"]) and in_futex(truth["holder"]), what="both to stand in a lock")
        done = subprocess.run([binary, "waits", str(process.pid), "--seconds", "0", "--json"], capture_output=True,
                              text=True, timeout=60, check=True)
    finally:
        process.communicate(timeout=30)
        python.unplace(placed)
    thread = next(t for p in json.loads(done.stdout)["processes"] for t in p["threads"] if t["tid"] == truth["waiter"])
    assert thread["hint"]["kind"] == "owner" and not thread["hint"]["proof"], thread
    assert thread["hint"]["text"].startswith("Lock at sharedlock.py:"), thread
    assert thread["hint"]["owner_text"] == "with lock at sharedlock.py:13 in holder", thread
    assert [(a["to"]["tid"], a["quality"]) for a in thread["arrows"]] == [(truth["holder"], "likely")]
