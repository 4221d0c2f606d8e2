"""The guard at work on real memory: races, courtesy, policies, its own death, the jobs that make it hard."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import psutil
import pytest

from conftest import wait_for, workload
from guardkit import (MIB, groups_left, guard_of, guardtrap, hog, job_ids, memory_group, no_trace,  # noqa: F401
                      nobodys_hog_run, nobodys_vigil, states_of)

PYTHON = "/usr/bin/python3"


# --- races: the kernel's killer never gets its turn, and nothing is left

RACES = {
    "one thread": (["--threads", 1], 256),
    "two threads": (["--threads", 2], 256),
    "two threads, much memory": (["--threads", 2], 1024),
    "slow": (["--rate", "200M"], 256),
    "ignores SIGTERM": (["--trap-term"], 256),
    "shared memory": (["--way", "shm"], 256),
    "huge pages": (["--huge", "on"], 512),
    "no huge pages": (["--huge", "off"], 256),
    "small eaters, one after another": (["--way", "fork", "--eater", "2M"], 256),
}


@pytest.mark.parametrize("race", RACES)
def test_a_race_is_won_and_leaves_no_trace(vigil, small_machine, hog, race):
    args, mib = RACES[race]
    box = small_machine(mib)
    result = vigil("run", "--", *hog(*args), box=box, timeout=60)
    assert result.status == 137, result
    assert box.kernel_kills() == 0, "the kernel's killer did not get its turn"
    report = vigil.why()
    assert (report["kind"], report["killer"]) == ("memory_kill", "vigil")
    no_trace(vigil, box)


def test_a_filler_of_a_memory_disk_is_found_though_it_owns_nothing(vigil, small_machine, hog, tiny_disk):
    box = small_machine(256)
    disk = tiny_disk(2 * 1024 * 1024)
    result = vigil("run", "--", *hog("--way", "tmpfs", "--dir", disk), box=box)
    assert result.status == 137, result
    assert box.kernel_kills() == 0
    assert vigil.why()["kind"] == "memory_kill"
    no_trace(vigil, box)


def test_without_freezing_the_race_is_won_too(vigil, small_machine, hog):
    box = small_machine(512)
    result = vigil("run", "--no-freeze", "--", *hog("--rate", "500M"), box=box)
    assert result.status == 137, result
    assert box.kernel_kills() == 0
    assert "SIGSTOP" not in json.dumps(vigil.why()) and "freezer" not in vigil.why()["action"]["method"]
    no_trace(vigil, box)


FAMILY = """
import mmap, os, sys, time
count, each = int(sys.argv[1]), int(sys.argv[2])
for n in range(count):
    if os.fork() == 0:
        block = mmap.mmap(-1, max(each, 4096), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for page in range(0, each, 4096):
            block[page] = 1
        time.sleep(120)
        os._exit(0)
print("ready", flush=True)
blocks = []
while True:
    blocks.append(mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
    for page in range(0, 1 << 20, 4096):
        blocks[-1][page] = 1
    time.sleep(0.002)
"""


@pytest.mark.parametrize("count", [120, 600])
def test_a_job_of_many_processes_ends_whole(vigil, small_machine, count):
    box = small_machine(1024)
    result = vigil("run", "--", PYTHON, "-c", FAMILY, count, 64 * 1024, box=box, timeout=120)
    assert result.status == 137, result
    assert b"ready" in result.out
    assert box.kernel_kills() == 0
    report = vigil.why()
    assert report["action"]["processes_ended"] == count + 1
    assert "stuck" not in json.dumps(report), "the dead are not called stuck"
    no_trace(vigil, box)


# --- the guard itself dies

def stop_calmly(vigil, process):
    process.send_signal(signal.SIGTERM)
    return vigil.finish(process, 30)


def test_a_guard_that_is_killed_is_replaced_and_guards_on(vigil, small_machine, tmp_path):
    box = small_machine(256)
    go = tmp_path / "go"
    wait = ("import os, runpy, sys, time\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.01)\n"
            "sys.argv = ['hog.py', '2000', '--rate', '400']; runpy.run_path(%r, run_name='__main__')" % workload("hog")[2])
    process = vigil.start("run", "--", PYTHON, "-u", "-c", wait, go, box=box)
    first = guard_of(process)
    os.kill(first, signal.SIGKILL)
    second = guard_of(process, besides=first)
    assert second != first
    go.touch()
    result = vigil.finish(process, 60)
    assert result.status == 137, result
    assert result.text.count("the guard process died") == 1, "said, and once"
    assert box.kernel_kills() == 0
    report = vigil.why()
    assert (report["kind"], report["killer"]) == ("memory_kill", "vigil")
    no_trace(vigil, box)


@pytest.mark.parametrize("freeze", ["--freeze", "--no-freeze"])
def test_a_guard_killed_before_it_kills_leaves_nothing_frozen_and_its_case_is_told(vigil, small_machine, guardtrap, freeze):
    box = small_machine(256)
    result = vigil("run", freeze, "--", *workload("hog", 2000, "--rate", 300), box=box, env=guardtrap("die"))
    assert result.status == 137, result
    assert result.text.count("the guard process died") == 1
    assert box.kernel_kills() == 0
    assert vigil.why()["killer"] == "vigil"
    events = vigil("events", job_ids(vigil)[0], "--json").out.decode()
    assert "guard_died" in events
    assert "replayed" in json.dumps(vigil.why()), "the report says what it is made of"
    assert vigil("jobs", "--json").json()["memory_kills"] == 1
    no_trace(vigil, box)


def test_a_guard_killed_after_it_killed_is_replayed_into_the_report(vigil, small_machine, guardtrap):
    box = small_machine(256)
    result = vigil("run", "--", *workload("hog", 2000, "--rate", 300), box=box, env=guardtrap("die-after"))
    assert result.status == 137, result
    report = vigil.why()
    assert (report["kind"], report["killer"]) == ("memory_kill", "vigil")
    assert report["victim"]["own_bytes"] > 64 * MIB
    assert "replayed" in json.dumps(report)
    no_trace(vigil, box)


def test_what_a_dying_guard_had_stopped_by_signal_goes_on(nobodys_hog_run, guardtrap):
    """Without a group of its own the job's processes are stopped one by one, and must be continued one by one."""
    vigil, run = nobodys_hog_run
    result = run("--memory-limit", "128M", env=guardtrap("die"))
    assert result.status == 137, result
    assert result.text.count("the guard process died") == 1
    assert vigil.why()["killer"] == "vigil"


def test_a_vigil_that_is_killed_takes_its_job_along_and_says_so(vigil, small_machine):
    box = small_machine(256)
    process = vigil.start("run", "--", "/bin/sh", "-c", "sleep 300 & sleep 300 & echo ready; wait", box=box)
    wait_for(lambda: len(box.pids()) >= 5, 20, "the job to run")
    guard_of(process)
    wait_for(lambda: vigil("jobs", "--json").out, 20, "the job to be stored")
    process.kill()
    process.wait(10)
    no_trace(vigil, box)
    report = vigil.why()
    assert report["cause"]["id"] == "supervisor_killed"
    assert report["victim"]["pid"] == process.pid


def test_a_vigil_that_is_killed_while_memory_is_short_leaves_nothing_frozen(vigil, small_machine):
    box = small_machine(128)
    process = vigil.start("run", "--", *workload("hog", 110, "--hold", 300, "--ignore-term"), box=box)
    wait_for(lambda: process.stdout.readline().startswith(b"ready"), 20)
    process.kill()
    process.wait(10)
    no_trace(vigil, box)


# --- the decision path allocates nothing

def test_from_waiting_to_the_kill_the_guard_allocates_nothing(vigil, small_machine, guardtrap, tmp_path):
    box = small_machine(256)
    result = vigil("run", "--retries", "1", "--backoff", "10ms", "--", *workload("hog", 2000, "--rate", 400), box=box,
                   env=guardtrap())
    assert result.status == 137, result
    lines = (tmp_path / "allocations").read_text().splitlines()
    assert [line.split()[0] for line in lines] == ["armed"], "the trap was set, and nothing fell into it"
    assert vigil.why()["kind"] == "memory_kill"


def test_the_trap_that_counts_allocations_works(binary, guardtrap, tmp_path):
    """A program of our guard's name that does allocate is caught, so that an empty list means something."""
    code = ("import ctypes, select; ctypes.CDLL(None).prctl(15, b'vigil-guard', 0, 0, 0)\n"
            "import ctypes as c; l = c.CDLL(None); l.epoll_pwait2(-1, None, 0, None, None); l.malloc(4321)")
    subprocess.run([PYTHON, "-c", code], env={**os.environ, **{k: str(v) for k, v in guardtrap().items()}}, check=True)
    lines = (tmp_path / "allocations").read_text().splitlines()
    assert lines[0].startswith("armed") and "malloc 4321" in lines
