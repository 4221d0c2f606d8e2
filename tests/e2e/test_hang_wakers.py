"""Waits that end by what no list of holders shows: an alarm, a signal, a process with the same memory. Nothing is proved then."""
import os
import subprocess
import sys

import pytest

from conftest import wait_for
from hangkit import events

SECONDS = 16
JOB = '''
import asyncio, os, queue, signal, subprocess, sys, time
class Woken(Exception):
    pass
def wake(*_):
    raise Woken
def steps(first, n):
    for i in range(first, first + n):
        print("step", i, flush=True)
        time.sleep(0.1)
async def loop(seconds):
    told = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().add_signal_handler(signal.SIGALRM, told.set_result, None)
    signal.alarm(seconds)
    await told
what, seconds = sys.argv[1], int(sys.argv[2])
steps(0, 20)
if what == "alarm":
    signal.signal(signal.SIGALRM, wake)
    signal.setitimer(signal.ITIMER_REAL, seconds)
if what == "child":
    signal.signal(signal.SIGUSR1, wake)
    subprocess.Popen(["sh", "-c", f"sleep {seconds}; kill -USR1 {os.getpid()}"])
if what == "loop":
    asyncio.run(loop(seconds))
else:
    try:
        queue.Queue().get()
    except Woken:
        pass
steps(20, 10)
'''


@pytest.fixture
def wakes(binary):
    path = binary.parents[2] / "tests/tool/wakes"
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return path


def lives(vigil, *command, env=None):
    """The job is not ended by --on-hang kill, and is told at most with low confidence."""
    result = vigil("run", "--hang-after", "4s", "--on-hang", "kill", "--", *command, timeout=90, env=env)
    assert result.status == 0, result
    for e in events(vigil, "hang"):
        report = vigil("why", e["incident"], "--json").json()
        assert report["cause"]["confidence"] == "low", report["cause"]
    return events(vigil)


@pytest.mark.parametrize("what", ["alarm", "child", "loop"])
def test_a_handler_of_a_signal_may_end_any_wait(vigil, what):
    looked_at = lives(vigil, sys.executable, "-c", JOB, what, SECONDS)
    assert [e for e in looked_at if e["kind"] in ("suspected", "hang")], "nobody looked at it while it stood"


@pytest.mark.parametrize("what", ["memory", "files"])
def test_who_has_a_threads_memory_or_descriptors_may_end_its_wait(vigil, wakes, what):
    looked_at = lives(vigil, wakes, what, SECONDS)
    assert [e for e in looked_at if e["kind"] in ("suspected", "hang")], "nobody looked at it while it stood"


def test_a_lock_that_a_program_outside_of_the_job_has_is_no_orphan(vigil, wakes, tmp_path):
    env = {"WAKES_FILE": str(tmp_path / "shared")}
    with subprocess.Popen([wakes, "keep", str(SECONDS)], env={**os.environ, **env}, stdout=subprocess.PIPE, text=True) as keeper:
        assert keeper.stdout.readline() == "kept\n"
        p = vigil.start("run", "--hang-after", "4s", "--on-hang", "kill", "--on-hang-needs", "proof", "--", wakes, "lock", 0, env=env)
        wait_for(lambda: events(vigil, "hang"), 60, "the verdict")
        cause = vigil.why()["cause"]
        assert cause["id"] != "orphaned_wait" and f"process {keeper.pid} (wakes)" in cause["text"], cause
        assert vigil.finish(p, timeout=60).status == 0
