"""Locks of multiprocessing across processes: who holds what another process waits for, on every Python of this machine."""
import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import pythons  # noqa: E402
from conftest import WORKLOADS, wait_for  # noqa: E402

FOUND = [p for p in pythons.find(at_least=(3, 8)) if not p.free_threaded]


def in_futex(pid):
    return pathlib.Path(f"/proc/{pid}/syscall").read_text().startswith("202 ")  # futex of x86-64


def in_shared_futex(pid):
    """A wait on memory of several processes, of which FUTEX_PRIVATE_FLAG says nothing."""
    words = pathlib.Path(f"/proc/{pid}/syscall").read_text().split()
    return words[0] == "202" and not int(words[2], 16) & 128


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


FULL = """
import multiprocessing, sys, time
def fit(q):
    for n in iter(q.get, None):
        print(n, flush=True)
        time.sleep(3600)
if __name__ == "__main__":
    q = multiprocessing.get_context(sys.argv[1]).Queue(1)
    multiprocessing.get_context(sys.argv[1]).Process(target=fit, args=(q,), daemon=True).start()
    for n in range(5):
        q.put(n)
"""


@pytest.mark.parametrize("python", FOUND, ids=str)
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_who_put_last_into_a_full_queue_does_not_hold_it(python, method, binary, tmp_path):
    """Its semaphore counts to one, as a lock's does, and is given back by whoever takes from the queue."""
    program = tmp_path / "full.py"
    program.write_text(FULL)
    placed = python.place(program)
    process = subprocess.Popen([*python.argv, placed, method], stdout=subprocess.PIPE, text=True, env=python.env(),
                               start_new_session=True)
    try:
        assert process.stdout.readline() == "0\n"
        wait_for(lambda: in_shared_futex(process.pid), what="the queue to be full")
        done = subprocess.run([binary, "waits", str(process.pid), "--json"], capture_output=True, text=True, timeout=60, check=True)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=30)
        python.unplace(placed)
    waits = json.loads(done.stdout)
    main = next(t for p in waits["processes"] for t in p["threads"] if t["tid"] == process.pid)
    assert main["hint"]["text"].startswith("Queue.put at full.py:"), main
    assert main["hint"]["kind"] != "owner" and not main.get("dead"), main
    assert not any(e.get("dead") for e in waits["ends"]), waits["ends"]
