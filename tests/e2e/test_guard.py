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
from guardkit import MIB, groups_left, guard_of, guardtrap, hog, job_ids, memory_group, no_trace, states_of  # noqa: F401

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
