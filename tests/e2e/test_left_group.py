"""A process that leaves its job's control group stays in the job: counted against the limit, told of, ended with it."""
import json
import os
import pathlib
import sys

import psutil
import pytest

from conftest import wait_for
from guardkit import groups_left, guard_of, memory_group

MIB = 1 << 20
# argv: group's cgroup.procs, MiB a second, MiB at most, "fork" for a child that nobody of the job is the parent of
LEAVER = """
import os, sys, time
group, rate, most, how = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
def leave():
    with open(group, "w") as procs:
        procs.write(str(os.getpid()))
def grow():
    held = []
    while len(held) < most:
        held.append(bytearray(b"x") * (1 << 20))
        time.sleep(1 / rate)
    time.sleep(300)
if how == "fork":
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            leave()
            grow()
        os._exit(0)
    time.sleep(300)
leave()
grow()
"""


@pytest.fixture
def leaver(vigil):
    """start() runs a job that moves itself to the group in which this test runs."""
    home = memory_group(os.getpid())
    if home is None or not os.access(home / "cgroup.procs", os.W_OK):
        pytest.skip("no group to move to")

    def start(rate, most, how="self", limit="200M", *options):
        process = vigil.start("run", "--memory-limit", limit, *options, "--", sys.executable, "-c", LEAVER,
                              home / "cgroup.procs", str(rate), str(most), how)
        guard_of(process)
        wait_for(lambda: vigil("jobs", "--json").out, 20, "the job to be stored")
        if not groups_left(vigil):
            pytest.skip("no control group can be made for a job here")
        return process
    return start


def left(vigil):
    return [e for e in map(json.loads, vigil("events", "--json").out.splitlines()) if e["kind"] == "left_group"]


@pytest.mark.parametrize("how", ["self", "fork"])
def test_the_limit_counts_a_process_that_has_left_the_group(vigil, leaver, how):
    process = leaver(100, 1500, how)
    if how == "fork":  # its main process goes on
        wait_for(lambda: vigil("events", "--json").out.count(b"memory_kill"), 40, "the kill")
        report = vigil.why()
        process.terminate()
    result = vigil.finish(process, 60)
    if how == "self":
        assert result.status == 137, result
        report = vigil.why()
    assert (report["kind"], report["memory"]["scope"]) == ("memory_kill", "job")
    assert 100 * MIB < report["victim"]["own_bytes"] < 700 * MIB
    assert result.text.count("left the job's group") == 1, result.text
    assert len(left(vigil)) == 1


def test_who_has_left_the_group_is_told_of_listed_and_ended_with_the_job(vigil, leaver):
    process = leaver(100, 20, "fork")
    event = wait_for(lambda: left(vigil), 30, "the event")[0]
    assert "left the job's group" in event["text"]
    away = [c for c in psutil.Process(process.pid).children(recursive=True)
            if c.name().startswith("python") and memory_group(c.pid) == memory_group(os.getpid())]
    assert len(away) == 1 and f"process {away[0].pid}" in event["text"]
    assert str(away[0].pid).encode() in vigil("ps").out
    process.terminate()
    result = vigil.finish(process, 30)
    assert result.text.count("left the job's group") == 1, result.text
    wait_for(lambda: not pathlib.Path(f"/proc/{away[0].pid}").exists(), 10, "its end")


def test_memory_that_is_charged_to_the_group_is_not_counted_twice(vigil, leaver):
    """130 of 200 MiB are taken inside; whoever then leaves takes its charge along nowhere."""
    code = LEAVER.replace("leave()\ngrow()\n", "held = bytearray(b'x') * (130 << 20)\nleave()\ntime.sleep(8)\n")
    home = memory_group(os.getpid())
    result = vigil("run", "--memory-limit", "200M", "--", sys.executable, "-c", code, home / "cgroup.procs", "1", "1",
                   "self", timeout=60)
    assert result.status == 0, result
    assert "left the job's group" in result.text
