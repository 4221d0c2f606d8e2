"""Nothing outlives vigil: whichever of its processes are killed, the job is left with no limit, brake or freeze."""
import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from conftest import ROOT, wait_for
from guardkit import groups_left, guard_of, hog, no_trace  # noqa: F401: a fixture

# It takes no SIGTERM, fills slowly beyond its limit, and says nothing.
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
held = []
for _ in range(260):
    held.append(bytearray(1 << 20))
    time.sleep(0.003 if len(held) < 170 else 0.02)
time.sleep(300)
"""
MUTE = "import time\nx = bytearray(30 << 20)\ntime.sleep(300)"
TRIALS = ROOT / "bench/outlive.py"


def part_of(process, name, besides=None):
    def look():
        for child in psutil.Process(process.pid).children():
            if child.name() == name and child.pid != besides and child.status() != psutil.STATUS_ZOMBIE:
                return child.pid
        return None
    return wait_for(look, 20, name)


def killed_together(*pids):
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            os.kill(pid, number)


def trials(binary, *args):
    done = subprocess.run([sys.executable, TRIALS, "--json", *map(str, args)], env=dict(os.environ, VIGIL=str(binary)),
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def events(vigil):
    return [json.loads(line) for line in vigil("events", "--json").out.splitlines()]


def everything_of(process):
    """All of vigil's processes beside a job, its own first."""
    return [process.pid, *[c.pid for c in psutil.Process(process.pid).children() if c.name().startswith("vigil")]]


def named_groups(prefix):
    return [os.path.join(d, s) for d, subs, _ in os.walk("/sys/fs/cgroup") for s in subs if s.startswith(prefix)]


@pytest.fixture
def own_group(vigil):
    """start() begins a mute job of 30 MiB below a limit of 200; it needs a group of its own."""
    def start(*options, program=MUTE):
        process = vigil.start("run", *options, "--memory-limit", "200M", "--", sys.executable, "-c", program)
        guard_of(process)
        wait_for(lambda: vigil("jobs", "--json").out, 20, "the job to be stored")
        if not groups_left(vigil):
            pytest.skip("no control group can be made for a job here")
        return process
    return start


def test_guard_and_supervisor_killed_together_leave_no_limit_and_are_told_of(vigil, own_group):
    process = own_group()
    killed_together(process.pid, guard_of(process))
    process.wait(10)
    no_trace(vigil)
    report = vigil.why()
    assert report["cause"]["id"] == "supervisor_killed"
    assert json.loads(vigil("jobs", "--json").out.splitlines()[0])["state"] == "failed"


def test_the_kernel_asks_the_job_to_end_when_all_of_vigil_is_killed(vigil, own_group):
    process = own_group()
    job = part_of(process, "python3")
    killed_together(*everything_of(process))
    process.wait(10)
    wait_for(lambda: not psutil.pid_exists(job), 10, "the end of the job")
    vigil("jobs")  # the empty group stays until somebody of vigil looks
    no_trace(vigil)
    report = vigil.why()
    assert report["cause"]["id"] == "supervisor_killed"
    shown = b" ".join(vigil("show", report["job"]).out.split())
    assert b"was told to stop" not in shown and b"vigil itself (pid" in shown.split(b"Processes")[0], shown


def test_a_job_that_goes_on_when_all_of_vigil_is_killed_neither_stands_nor_is_stopped(vigil, own_group):
    process = own_group(program=STUBBORN)
    job = psutil.Process(part_of(process, "python3"))
    wait_for(lambda: job.memory_info().rss > 174 << 20, 20, "the job near its limit")
    killed_together(*everything_of(process))
    process.wait(10)
    wait_for(lambda: job.memory_info().rss > 262 << 20, 10, "the job beyond what was its limit")
    job.kill()
    wait_for(lambda: not job.is_running(), 10, "its end")
    vigil("jobs")
    no_trace(vigil)


def test_the_rescue_process_is_replaced_and_ends_with_its_supervisor(vigil, own_group):
    process = own_group()
    first = part_of(process, "vigil-rescue")
    os.kill(first, signal.SIGKILL)
    part_of(process, "vigil-rescue", besides=first)
    process.terminate()
    process.wait(20)
    no_trace(vigil)


def test_a_guard_that_stands_still_when_the_supervisor_dies_is_ended(vigil, own_group):
    process = own_group()
    os.kill(guard_of(process), signal.SIGSTOP)
    process.kill()
    process.wait(10)
    no_trace(vigil)
    assert vigil.why()["cause"]["id"] == "supervisor_killed"


@pytest.mark.parametrize("after", ["0", "0.002", "0.01"])
def test_a_supervisor_that_is_killed_before_it_has_opened_the_store_is_told_of(vigil, after):
    process = vigil.start("run", "--name", "young", "--", "/bin/sh", "-c", f"sleep {after}; kill -9 $PPID; exec sleep 300")
    assert process.wait(20) == -signal.SIGKILL
    assert wait_for(lambda: vigil("why", "young", "--json").out, 20, "a report")
    assert vigil.why("young")["cause"]["id"] in ("supervisor_killed", "supervisor_lost")


def test_a_guard_that_makes_no_progress_is_replaced_and_told_of(vigil, own_group):
    """A stopped guard takes no sample: the job would stand at its limit, or die of the kernel's killer."""
    process = own_group()
    first = guard_of(process)
    os.kill(first, signal.SIGSTOP)
    second = guard_of(process, besides=first)
    wait_for(lambda: not psutil.pid_exists(first), 10, "the stopped guard to be gone")
    assert psutil.pid_exists(second)
    said = [e["text"] for e in events(vigil) if e["kind"] == "guard_stuck"]
    assert len(said) == 1 and "made no progress" in said[0] and f"{first}" in said[0]
    process.terminate()
    process.wait(20)
    no_trace(vigil)


def test_a_guard_that_has_little_to_do_is_left_alone(vigil, own_group):
    process = own_group()
    first = guard_of(process)
    end = psutil.Process(first).create_time() + 9
    wait_for(lambda: time.time() > end, 12)
    assert guard_of(process) == first
    process.terminate()
    process.wait(20)
    assert not [e for e in events(vigil) if e["kind"].startswith("guard_")]


@pytest.mark.parametrize("also", [[], ["vigil-guard"]], ids=lambda also: "+".join(["supervisor", *also]))
def test_a_memory_kill_that_was_not_stored_yet_is_told(vigil, hog, also):
    process = vigil.start("run", "--memory-limit", "200M", "--", *hog("--way", "anon"), stdout=subprocess.DEVNULL)
    pids = [process.pid, *[part_of(process, name) for name in also]]
    end = time.monotonic() + 20
    while not list(vigil.state.glob("jobs/*/incidents/*.json")) and time.monotonic() < end:
        pass
    killed_together(*pids)
    process.wait(10)
    wait_for(lambda: not vigil.strays(), 15, "the end of what is left of vigil")
    job = json.loads(vigil("jobs", "--json").out.splitlines()[0])
    assert job["memory_kills"] == 1 and job["last_incident"]
    report = vigil.why()
    assert report["kind"] == "memory_kill" and report["victim"]["pid"]
    assert report["killer"] == "vigil" and "about to end" not in report["summary"]
    no_trace(vigil)


@pytest.mark.parametrize("kind", ["print-hog", "mute-hog", "print-quiet", "mute-quiet"])
def test_any_of_vigils_processes_may_be_killed_at_any_moment(binary, kind):
    told = trials(binary, "--jobs", kind, "--trials", 3, "--parallel", 3, "--seed", 1)
    assert told["kinds"][kind]["trials"] == 3 and told["bad"] == []


@pytest.mark.parametrize("when", ["made0", "made1", "removed0", "removed1"])
def test_a_vigil_that_is_killed_while_it_makes_or_removes_groups_leaves_none(vigil, when):
    trap = vigil.binary.parents[2] / "tests/e2e/native/grouptrap.so"
    name = f"trapped-{when}-{os.getpid()}"
    process = vigil.start("run", "--name", name, "--", "true", env={"LD_PRELOAD": trap, "GROUPTRAP": when})
    status = process.wait(20)
    before = named_groups(f"vigil-{name}-")
    if status != -signal.SIGKILL and not before:
        pytest.skip("no such group is made here")
    wait_for(lambda: vigil("jobs").status == 0 and not named_groups(f"vigil-{name}-"), 5, f"none of {before} to be left")


def test_a_vigil_that_cannot_start_leaves_no_group(vigil):
    name = f"starved-{os.getpid()}"
    few = lambda n: vigil("run", "--name", name, "--", "true", prefix=["prlimit", f"--nofile={n}:{n}"]).status  # noqa: E731
    assert 125 in [few(n) for n in range(11, 44, 4)]
    for n in range(8, 20):
        vigil("map", "--name", name, "true", ":::", "1", prefix=["prlimit", f"--nofile={n}:{n}"])
    vigil("jobs")
    assert not named_groups(f"vigil-{name}-")
