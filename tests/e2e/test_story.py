"""One story a job: what `vigil why` says first of a job that hung, and what it says below."""
import signal
import sys

import psutil
import pytest

from conftest import wait_for, workload
from hangkit import events


def hung(vigil, *command, nproc=2):
    """A job that vigil has found to hang."""
    ranks = ["--nproc", nproc] if nproc else []
    p = vigil.start("run", "--hang-after", "3s", *ranks, "--", *command)
    wait_for(lambda: events(vigil, "hang") or p.poll() is not None, 60, "the report")
    assert p.poll() is None
    return p


@pytest.mark.parametrize("sig,word", [(signal.SIGINT, "Interrupt"), (signal.SIGTERM, "Terminated")])
def test_a_hang_that_somebody_ends_by_a_signal_stays_the_headline(vigil, sig, word):
    p = hung(vigil, *workload("hangs", "lock", "--at", 5))
    p.send_signal(sig)
    p.wait(30)
    report = vigil.why()
    assert report["kind"] == "hang" and report["culprit_ranks"] == [1], report
    assert "asked it to stop" in report["ended"]["text"], report["ended"]
    assert f"{word} from pid {psutil.Process().pid} (" in report["ended"]["text"], report["ended"]
    end = vigil.why(report["ended"]["incident"])
    assert end["kind"] == "killed_by" and end["id"] != report["id"]
    said = vigil("why").out.decode()
    assert said.startswith("hung  ·"), said
    assert said.index("ended at ") < said.index("Why"), "the end is the line below"
    assert f"vigil why {end['id']}" in said
    assert "went on" not in said, said


def test_a_job_that_answers_the_signal_by_a_clean_end_hung_all_the_same(vigil):
    script = "import signal, sys, threading\nsignal.signal(signal.SIGTERM, lambda *a: sys.exit(0))\nl = threading.Lock(); l.acquire()\nl.acquire()\n"
    p = hung(vigil, sys.executable, "-c", script, nproc=0)
    p.send_signal(signal.SIGTERM)
    assert p.wait(30) == 0
    report = vigil.why()
    assert report["kind"] == "hang", report
    assert report["ended"]["text"].startswith("It ended with exit status 0") and "Terminated from pid" in report["ended"]["text"]
    said = vigil("why").out.decode()
    assert "ended as it should" not in said, said


def test_a_hang_that_was_resolved_is_not_the_headline(vigil):
    p = hung(vigil, *workload("hangs", "stop", "--at", 5, "--steps", 100000))
    for process in psutil.Process(p.pid).children(recursive=True):
        if process.status() == psutil.STATUS_STOPPED:
            process.send_signal(signal.SIGCONT)
    wait_for(lambda: events(vigil, "hang_resolved"), 60, "it to move")
    p.send_signal(signal.SIGTERM)
    p.wait(30)
    report = vigil.why()
    assert report["kind"] == "killed_by" and "ended" not in report, report


def test_a_job_that_hangs_and_runs_has_no_end(vigil):
    p = hung(vigil, *workload("hangs", "lock", "--at", 5))
    assert "ended" not in vigil.why()
    assert "goes on: it is running" in vigil("why").out.decode()
    p.terminate()
    p.wait(30)


def test_a_hang_stays_the_headline_when_vigil_itself_is_killed(vigil):
    p = hung(vigil, *workload("hangs", "lock", "--at", 5))
    p.kill()
    p.wait(30)
    report = vigil.why()
    assert report["kind"] == "hang" and "Vigil itself was ended" in report["ended"]["text"], report
