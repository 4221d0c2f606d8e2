"""Whoever reads vigil's output may stop reading: signals, logs and the guard go on, and nothing is lost when it comes back."""
import os
import signal
import subprocess
import time

import psutil

from conftest import wait_for, workload
from guardkit import report_of

MIB = 1 << 20
FLOOD = "import sys\nfor i in range(10**9): sys.stdout.write('line %d\\n' % i)"


def flood(limit=None):
    return ["/usr/bin/python3", "-c", FLOOD.replace("10**9", str(limit)) if limit else FLOOD]


def stuck(vigil, *command, err=subprocess.DEVNULL, **kwargs):
    """A running vigil whose stdout is full and not read, once its log has gone on beyond what the pipe holds."""
    process = vigil.start("run", *command, stderr=err, **kwargs)
    wait_for(lambda: list(vigil.state.glob("jobs/*/attempt-0/rank-0.out")), what="the log")
    wait_for(lambda: vigil.log().stat().st_size > MIB, what="the log to go on although nobody reads")
    return process


def test_sigterm_ends_the_job_whose_output_nobody_reads(vigil):
    process = stuck(vigil, "--", *flood())
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(8) == 128 + signal.SIGTERM
    assert time.monotonic() - began < 6
    wait_for(lambda: not vigil.strays(), what="the job to be gone")


def test_so_it_does_when_stderr_is_the_same_stuck_pipe(vigil):
    process = stuck(vigil, "--", *flood(), err=subprocess.STDOUT)
    process.send_signal(signal.SIGTERM)
    assert process.wait(8) == 128 + signal.SIGTERM


def test_the_job_waits_as_it_would_without_vigil(vigil):
    stuck(vigil, "--", *flood())
    sizes = []

    def still():
        sizes.append(vigil.log().stat().st_size)
        return len(sizes) > 30 and sizes[-30] == sizes[-1]
    wait_for(still, what="the job to stop writing")
    assert sizes[-1] < 3 * MIB
    me = psutil.Process(vigil.started[-1].pid)
    before = sum(me.cpu_times()[:2])
    end = time.monotonic() + 1
    wait_for(lambda: time.monotonic() > end)
    assert sum(me.cpu_times()[:2]) - before < 0.2, "waiting for a reader takes no CPU time"


def test_nothing_is_lost_when_the_reader_comes_back(vigil):
    process = stuck(vigil, "--", *flood(400000))
    got = process.stdout.read()
    assert process.wait(20) == 0
    assert got == b"".join(b"line %d\n" % i for i in range(400000))
    assert vigil.log().read_bytes() == got


def test_a_job_that_has_ended_is_done_before_its_output_is_read(vigil):
    process = vigil.start("run", "--", *flood(70000))
    wait_for(lambda: vigil("jobs", "--json").out and vigil("show", "last", "--json").json()["state"] == "done",
             what="the job to be done in the store")
    assert process.poll() is None, "what is kept would be lost"
    got = process.stdout.read()
    assert process.wait(20) == 0 and got.count(b"\n") == 70000


def test_a_memory_kill_is_carried_out_and_reported(vigil, small_machine):
    """The hog begins once the pipe is full; before, the guard's report waited for a supervisor that waited for a reader."""
    script = f"head -c 3000000 /dev/zero | tr '\\0' '\\n' & sleep 1; exec {' '.join(workload('hog', 2000, '--rate', 100))} > /dev/null"
    process = vigil.start("run", "--", "sh", "-c", script, box=small_machine(256))
    report = report_of(vigil, kind="memory_kill", deadline_s=40)
    assert report["victim"]["signal"] == signal.SIGKILL
    assert process.poll() is None, "what is kept would be lost"
    assert process.stdout.read().strip() == b""
    assert process.wait(30) == 137


def test_a_reader_that_goes_away_ends_the_job_as_without_vigil(vigil):
    process = stuck(vigil, "--", *flood())
    process.stdout.close()
    process.wait(20)
    wait_for(lambda: not vigil.strays(), what="the job to be gone")


def test_a_stopped_terminal(vigil):
    ours, theirs = os.openpty()
    process = vigil.start("run", "--quiet", "--", *flood(), stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    wait_for(lambda: list(vigil.state.glob("jobs/*/attempt-0/rank-0.out")), what="the log")
    wait_for(lambda: vigil.log().stat().st_size > MIB // 2, what="the log to go on")
    process.send_signal(signal.SIGTERM)
    assert process.wait(8) == 128 + signal.SIGTERM
    os.close(ours)
