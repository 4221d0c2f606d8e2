"""Ranks in C that hang, and that only look like it: no Python is near, so native frames, system calls and counters tell.

The job is tests/tool/mpiranks.c, whose ranks meet in MPI_Allreduce of a stand-in made of a ring of sockets.
"""
import subprocess

import psutil
import pytest

from conftest import wait_for
from deadkit import dead_files  # noqa: F401
from hangkit import events, shown

RANKS = 4


@pytest.fixture
def program(binary):
    path = binary.parents[2] / "tests/tool/mpiranks"
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return path


@pytest.fixture
def judged(vigil, program):
    """judged("lock", "culprit=2") runs the job until vigil ends it for its hang, and gives the report."""
    def run(what, *words, spawned=False):
        ranks = () if spawned else ("--nproc", RANKS)
        words = (*words, f"spawn={RANKS}", "deaf=1") if spawned else words
        result = vigil("run", "--hang-after", "4s", "--on-hang", "kill", *ranks, "--", program, what, *words, timeout=90)
        assert result.status == 124, result
        report = vigil.why()
        assert report["kind"] == "hang" and report["cause"]["advice"], report
        return report
    return run


def looks(report):
    return report["cause"]["id"], report.get("culprit_ranks", [])


# what, the rank that does it, the cause that must be named
CAUSES = [
    ("lock", 2, "missing_rank"),
    ("missing", 1, "missing_rank"),
    ("stop", 3, "rank_stopped"),
    ("desync", 0, "mismatched_collective"),
    ("desync", 3, "mismatched_collective"),
    ("p2p", 2, "mismatched_collective"),
    ("disk", 1, "waits_for_process"),
    ("fork_lock", 2, "fork_lock"),
    ("loader", 0, "wait_circle"),
]


@pytest.mark.parametrize("what, culprit, cause", CAUSES)
def test_the_rank_that_holds_up_the_others_is_named_and_why(judged, what, culprit, cause):
    report = judged(what, f"culprit={culprit}")
    assert looks(report) == (cause, [culprit]), report
    # of several ranks the one that receives may be right, and its sender have gone on
    assert report["cause"]["confidence"] == {"p2p": "low", "disk": "medium"}.get(what, "high"), report
    groups = report["hang"]["groups"]
    assert sum(g["count"] for g in groups) == RANKS and any("MPI_" in str(g) for g in groups), groups
    assert {s["rank"] for s in report["stacks"]} >= set(range(RANKS)), "the stacks of all ranks"


def test_who_holds_the_lock_is_told(judged):
    assert "The lock is held by thread" in judged("lock")["cause"]["text"]


def test_a_team_of_openmp_that_stayed_behind_is_named(judged, program):
    if b"libgomp" not in subprocess.run(["ldd", program], capture_output=True).stdout:
        pytest.skip("mpiranks is built without GNU's OpenMP")
    assert looks(judged("openmp", "culprit=1")) == ("openmp_fork", [1])


def test_a_hang_is_found_though_each_rank_logs_a_line_a_second(judged):
    assert looks(judged("lock", "noise=1", "culprit=2")) == ("missing_rank", [2])


def test_all_in_one_call_that_does_not_end_blame_no_rank(judged):
    """What rank 1 sends is lost below the library: from outside all stand alike."""
    report = judged("equal")
    assert looks(report) == ("equal_count_stall", []), report
    assert "All 4 ranks are in the same call" in report["cause"]["text"]


# by a launcher that does not notice; ended by SIGKILL, by a failure, and too soon
@pytest.mark.parametrize("what, culprit, cause, how", [
    ("kill", 1, "dead_rank", "ended by signal 9"),
    ("kill", 0, "dead_rank", "ended by signal 9"),
    ("fail", 2, "dead_rank", "exit code 3"),
    ("exit", 1, "uneven_last_epoch", "exit code 0"),
])
def test_a_rank_that_is_gone_while_the_others_wait_is_named(judged, what, culprit, cause, how):
    report = judged(what, f"culprit={culprit}", spawned=True)
    assert looks(report) == (cause, [culprit]), report
    assert how in report["cause"]["text"], report


def test_the_error_of_a_rank_that_lives_on_is_shown(judged):
    report = judged("error", "culprit=2")
    assert looks(report) == ("missing_rank", [2]), report
    assert "cuda_illegal_access" in shown(report) and "an illegal memory access" in shown(report), report
    assert "pthread_join" in report["cause"]["text"], report


def test_an_endless_loop_is_told_but_no_job_is_ended_for_it(vigil, program):
    """Compiled code may compute for long in one function: nobody can tell it from a loop without an end."""
    p = vigil.start("run", "--hang-after", "4s", "--on-hang", "kill", "--nproc", 2, "--", program, "spin")
    (event,) = wait_for(lambda: events(vigil, "hang"), 90, "the report")
    report = vigil.why(event["incident"])
    assert looks(report) == ("spin", [1]) and report["cause"]["confidence"] == "low", report
    assert "do_spin" in report["cause"]["text"] and "computes for long" in report["cause"]["text"], report
    assert p.poll() is None
    p.terminate()
    assert vigil.finish(p, 30).status == 143


def test_storage_that_does_not_answer_is_named_with_its_file_system(judged, dead_files):
    """A real state D, in which the kernel waits for a page of the server's."""
    folder = dead_files()
    report = judged("storage", "culprit=3", f"file={folder}/data")
    assert looks(report) == ("storage_stall", [3]) and report["cause"]["confidence"] == "high", report
    text = report["cause"]["text"]
    assert "state D" in text and f"{folder}/data" in text and "fuse.deadfs" in text, text


# what, words beside it
BENIGN = {
    "sleep": ("at=10",),
    "sleep_all": ("at=10",),
    "checkpoint": ("at=10",),
    "evaluate": ("at=10", "last=60"),
    "first_step": ("at=0",),
    "suspend": ("at=10",),
}


@pytest.mark.parametrize("what", BENIGN)
def test_what_only_looks_like_a_hang_is_left_alone(vigil, program, what):
    result = vigil("run", "--hang-after", "3s", "--on-hang", "kill", "--nproc", 2, "--", program, what, "culprit=0", "steps=20",
                   *BENIGN[what], timeout=120)
    assert result.status == 0, result
    assert not events(vigil, "hang"), result
    if what != "checkpoint": # who writes moves
        assert events(vigil, "standstill") or events(vigil, "suspected"), "it was looked at, and let go on"


def test_a_job_that_somebody_else_started_is_judged_as_well(vigil, program, tmp_path):
    with open(tmp_path / "log", "w") as out, \
            subprocess.Popen([program, "desync", "culprit=2", f"spawn={RANKS}"], stdout=out, stderr=out) as job:
        try:
            p = vigil.start("watch", "--pid", job.pid, "--hang-after", "4s", "--on-hang", "kill")
            wait_for(lambda: events(vigil, "hang"), 90, "the report")
            assert looks(vigil.why(events(vigil, "hang")[0]["incident"])) == ("mismatched_collective", [2])
            ranks = psutil.Process(job.pid).children() if job.poll() is None else []
            psutil.wait_procs(ranks, timeout=30)
            assert not any(r.is_running() and r.status() != psutil.STATUS_ZOMBIE for r in ranks)
        finally:
            job.kill()
        vigil.finish(p, 30)
