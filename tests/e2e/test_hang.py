"""Jobs that hang, and jobs that only look like it: real processes, judged by what `vigil why` says of them.

The detector's clock is set by --hang-after, as a user would. Stacks are taken several times some seconds apart, so a
verdict needs about that much more.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import psutil
import pytest

from conftest import WORKLOADS, wait_for, workload
from guardkit import nobodys_vigil  # noqa: F401
from hangkit import events, looks, ranks_of, shown, watcher_of
from ranksim import RasServer, ras_report, world

ROOT = pathlib.Path(__file__).resolve().parents[2]

HELPER = "tests/tool/hanghelper.so"
RANKS = 3


@pytest.fixture
def hang(vigil, binary):
    """hang("lock", "--at", 3) runs the job to its end by vigil and gives (result, report)."""
    helper = binary.parents[2] / HELPER

    def run(what, *args, vigil_args=(), nproc=RANKS, timeout=90):
        if not helper.exists():
            pytest.skip(f"{helper} is not built")
        ranks = ["--nproc", nproc] if nproc else []
        result = vigil("run", "--hang-after", "4s", "--on-hang", "kill", *ranks, *vigil_args, "--",
                       *workload("hangs", what, "--at", 40, "--steps", 400, "--helper", helper, *args), timeout=timeout)
        return result, (vigil.why() if result.status == 124 else None)
    return run


@pytest.fixture
def judged(vigil):
    """judged(words of vigil run, words of hangs.py) gives the report of the hang."""
    def run(vigil_args, *args, env=None):
        result = vigil("run", "--hang-after", "4s", "--on-hang", "kill", *vigil_args, "--", *workload("hangs", *args),
                       timeout=90, env=env)
        assert result.status == 124, result
        return vigil.why()
    return run


# what, the cause that must be named, the ranks that may be named
CAUSES = {
    "lock": ("orphaned_wait", [1]),
    "stop": ("rank_stopped", [1]),
    "missing": ("orphaned_wait", [1]),
    "gil": ("gil_held", [1]),
    "disk": ("waits_for_process", [1]),
    "fork_lock": ("fork_lock", [1]),
    "openmp": ("openmp_fork", [1]),
    "python_fork_lock": ("python_fork_lock", [1]),
    "queue_fork_lock": ("python_fork_lock", [1]),
    "deadlock": ("deadlock", [1]),
    "loader": ("loader_stuck", [1]),
    "exception": ("rank_finishing", [1]),
}


@pytest.mark.parametrize("what", CAUSES)
def test_the_rank_that_holds_up_the_others_is_named_and_why(hang, what):
    result, report = hang(what)
    cause, culprits = CAUSES[what]
    assert result.status == 124, result
    assert report["kind"] == "hang"
    assert report["culprit_ranks"] == culprits, report
    if cause:
        assert report["cause"]["id"] == cause, report
    assert report["cause"]["advice"], report
    assert {s["rank"] for s in report["stacks"]} >= set(range(RANKS)), "the stacks of all ranks"
    groups = report["hang"]["groups"]
    assert sum(g["count"] for g in groups) == RANKS
    assert f"vigil why {report['id']}" in result.text


def test_a_rank_that_goes_round_is_named_and_not_ended_as_it_may_look_at_what_somebody_outside_changes(vigil):
    p = vigil.start("run", "--hang-after", "4s", "--on-hang", "kill", "--nproc", RANKS, "--",
                    *workload("hangs", "spin", "--at", 40, "--steps", 400))
    wait_for(lambda: events(vigil, "hang") or p.poll() is not None, 120, "the report")
    report = vigil.why(events(vigil, "hang")[0]["incident"])
    assert looks(report) == ("hang", "spin", [1]) and report["cause"]["confidence"] == "low", report
    assert p.poll() is None
    p.terminate()
    p.wait(20)


def test_a_loop_that_asks_every_half_minute_is_found_and_not_ended(vigil):
    """Somebody outside may make the file that it looks for: who stands where is told, and no more."""
    p = vigil.start("run", "--hang-after", "4s", "--on-hang", "kill", "--nproc", RANKS, "--",
                    *workload("hangs", "poll", "--gap", 32, "--at", 40, "--steps", 400))
    wait_for(lambda: events(vigil, "hang") or p.poll() is not None, 240, "the report")
    report = vigil.why(events(vigil, "hang")[0]["incident"])
    assert looks(report) == ("hang", "poll_loop", [1]) and report["cause"]["confidence"] == "low", report
    assert "sleeps for at most 32.0 s at a time" in report["cause"]["text"], report
    assert p.poll() is None
    p.terminate()
    p.wait(20)


def line_of(path, mark):
    return next(i for i, line in enumerate(path.read_text().splitlines(), 1) if mark in line)


def test_the_line_of_a_lock_held_over_a_fork_is_told(hang):
    """Whatever the child uses it for: here it is a lock of Python's, which has no owner that could be read."""
    result, report = hang("python_fork_lock")
    line = line_of(ROOT / "tests/workloads/hangs.py", "def use(self, lock)") + 1
    assert result.status == 124, result
    assert f"hangs.py:{line} in Job.use" in report["cause"]["text"], report
    assert "spawn" in " ".join(report["cause"]["advice"])


def test_both_places_of_a_deadlock_of_python_s_threads_are_told(hang):
    result, report = hang("deadlock")
    source = ROOT / "tests/workloads/hangs.py"
    assert result.status == 124, result
    for mark in ("b.acquire()", "a.acquire()"):
        assert f"hangs.py:{line_of(source, mark)}" in report["cause"]["text"], report
    assert report["cause"]["confidence"] == "high", "Python's locks have no owners, but no thread is left that could release one"


@pytest.mark.parametrize("args,marks,says", [((), ("MOVE", "AUDIT"), "each other's locks"), (("once",), ("TWICE",), "holds itself")])
def test_threads_of_c_that_wait_for_each_other_are_named_with_their_lines(vigil, binary, args, marks, says):
    result = vigil("run", "--hang-after", "4s", "--on-hang", "kill", "--", binary.parents[2] / "tests/tool/deadlock", *args,
                   timeout=90)
    assert result.status == 124, result
    report = vigil.why()
    cause = report["cause"]
    assert (cause["id"], cause["confidence"]) == ("deadlock", "high") and says in cause["text"], cause
    assert (report["killer"], report["killer_text"]) == ("vigil", "--on-hang kill"), report
    assert "Vigil ended it, as it hung (--on-hang kill)" in vigil("why").out.decode()
    assert "1 process is ended: the job hangs" in vigil("events").out.decode()
    kills = [line for line in vigil("metrics").out.decode().splitlines() if line.startswith("vigil_kills_total{")]
    assert any('killer="vigil"' in line and 'cause="deadlock"' in line for line in kills), kills
    for mark in marks:
        assert f"deadlock.c:{line_of(ROOT / 'tests/tool/deadlock.c', mark)}" in cause["text"], cause


def test_a_rank_that_ended_early_is_named(hang):
    result, report = hang("uneven", "--deaf")
    assert result.status == 124, result
    assert looks(report) == ("hang", "uneven_last_epoch", [1])


def test_a_rank_that_died_unnoticed_is_named(hang):
    """The launcher waits for rank 0 alone, and rank 0 for a peer that is a zombie."""
    result, report = hang("killed", "--deaf", "--spawn", RANKS, nproc=None)
    assert result.status == 124, result
    assert looks(report) == ("hang", "dead_rank", [1])


def test_a_hang_is_found_though_a_logger_writes_each_second(hang):
    result, report = hang("lock", "--noise")
    assert result.status == 124, result
    assert looks(report) == ("hang", "orphaned_wait", [1])


def test_the_report_groups_the_stacks_of_all_ranks(vigil, hang):
    result, report = hang("lock")
    assert result.status == 124, result
    said = vigil("why", report["id"])
    assert "How the ranks stand" in said.out.decode()
    assert "Job.lock (hangs.py" in said.out.decode()


def test_by_default_a_hang_is_reported_and_the_job_goes_on(vigil):
    p = vigil.start("run", "--hang-after", "3s", "--nproc", 2, "--", *workload("hangs", "lock", "--at", 5))
    incident = wait_for(lambda: list(vigil.state.glob("jobs/*/incidents/*.json")), 60, "the report")[0]
    report = json.loads(wait_for(lambda: incident.read_text(), 5, "its text"))
    assert report["kind"] == "hang"
    assert p.poll() is None, "nobody asked vigil to end it"
    p.send_signal(signal.SIGTERM)
    p.wait(20)


def test_a_suspicion_is_recorded_long_before_the_verdict_is_told(vigil):
    """Without --hang-after: suspected by the steps that are missing, judged once stacks have stood long enough."""
    p = vigil.start("run", "--nproc", 2, "--", *workload("hangs", "lock", "--kept", "--at", 40))
    wait_for(lambda: list(vigil.state.glob("jobs/*/incidents/*.json")), 150, "the report")
    hang, suspected = vigil.why()["hang"], events(vigil, "suspected")
    p.send_signal(signal.SIGTERM)
    p.wait(60)
    assert vigil.why()["cause"]["confidence"] == "low", "who should release the lock is not known"
    assert hang["suspected_ms"] <= 20_000 < hang["standstill_ms"] and hang["steps_known"], hang
    assert len(suspected) == 1 and suspected[0]["text"].startswith("no step for 1"), suspected


def test_a_hang_that_dissolves_is_told_as_resolved(vigil):
    p = vigil.start("run", "--hang-after", "3s", "--nproc", 2, "--", *workload("hangs", "stop", "--at", 5, "--steps", 30))
    wait_for(lambda: list(vigil.state.glob("jobs/*/incidents/*.json")), 60, "the report")
    stopped = [c for c in psutil.Process(p.pid).children(recursive=True) if c.status() == psutil.STATUS_STOPPED]
    assert stopped
    for process in stopped:
        process.send_signal(signal.SIGCONT)
    assert p.wait(60) == 0
    assert len(events(vigil, "hang")) == 1, "one hang, one report"
    resolved = events(vigil, "hang_resolved")
    assert len(resolved) == 1 and resolved[0]["incident"] == events(vigil, "hang")[0]["incident"]
    assert vigil.why(resolved[0]["incident"])["hang"]["resolved"] is True
    (kept,) = vigil.state.glob("jobs/*/incidents/*.txt")
    for text in (vigil("why", resolved[0]["incident"]).out.decode(), kept.read_text()):
        assert text.startswith("hung, and moves again"), text


def test_a_job_that_hangs_is_started_again_when_asked_to(vigil, tmp_path):
    once = tmp_path / "once"
    script = (f"import os,time\nif os.path.exists('{once}'): raise SystemExit(0)\n"
              f"open('{once}','w').close()\nimport threading\nl=threading.Lock();l.acquire();l.acquire()\n")
    result = vigil("run", "--hang-after", "3s", "--on-hang", "restart", "--retries", 2, "--backoff", "0", "--",
                   "python3", "-c", script, timeout=90)
    assert result.status == 0, result
    report = vigil.why([e for e in events(vigil, "hang")][0]["incident"])
    assert report["kind"] == "hang" and report["retry"]["next"] == "retry"


def test_a_job_is_not_ended_for_a_verdict_that_is_unsure(vigil):
    p = vigil.start("run", "--hang-after", "3s", "--on-hang", "kill", "--", "python3", "-c", "import signal; signal.pause()")
    wait_for(lambda: events(vigil, "hang") or p.poll() is not None, 60, "the report")
    report = vigil.why(events(vigil, "hang")[0]["incident"])
    assert report["cause"]["confidence"] == "low", report
    with pytest.raises(subprocess.TimeoutExpired):
        p.wait(3)
    p.terminate()
    p.wait(20)


def test_a_server_without_visitors_is_left_alone(vigil):
    p = vigil.start("run", "--hang-after", "3s", "--on-hang", "kill", "--", "python3", "-m", "http.server", "--bind", "127.0.0.1", "0")
    wait_for(lambda: events(vigil, "standstill") or events(vigil, "hang"), 60, "it to be told as benign")
    assert not events(vigil, "hang")
    p.terminate()
    p.wait(20)


def test_who_asks_for_the_old_rule_gets_what_it_does(vigil):
    """It takes a sleep for a hang, and ends it: --on-hang kill is meant."""
    result = vigil("run", "--hang-rule", "io-gpu", "--hang-after", "4s", "--on-hang", "kill", "--", "sleep", 60, timeout=50)
    assert result.status == 124, result
    assert vigil.why()["cause"]["confidence"] == "low"


@pytest.mark.parametrize("seconds,args", [(20, ()), (12, ()), (15, ("--quiet",))])
def test_what_was_seen_before_a_time_out_of_the_framework_is_in_the_report(vigil, seconds, args):
    """With its own times vigil would judge after 25 s and more; the ranks end before that."""
    result = vigil("run", "--nproc", RANKS, "--", *workload("hangs", "lock", "--kept", "--at", 40, "--steps", 400, "--ddp-timeout", seconds,
                                                            *args), timeout=120)
    assert result.status == 1, result
    assert not events(vigil, "hang") and len(events(vigil, "suspected")) == 1, result
    report = vigil.why()
    assert (report["kind"], report["cause"]["id"], report["culprit_ranks"]) == ("error_exit", "missing_rank", [1]), report
    assert report["cause"]["confidence"] != "high" and "Timed out waiting" in report["cause"]["text"], report
    assert {s["rank"] for s in report["stacks"]} == set(range(RANKS)), "the stacks of all ranks"
    assert sum(g["count"] for g in report["hang"]["groups"]) == RANKS
    kinds = {e["kind"] for e in report["evidence"]}
    assert {"suspicion", "counters", "stacks"} <= kinds and (args or "log_of_others" in kinds), report["evidence"]
    assert "Job.lock (hangs.py" in vigil("why", "last").out.decode()


def test_a_time_out_that_comes_before_any_suspicion_and_that_nothing_tells_of(vigil):
    """A step that is late is looked at, though nobody would call it suspicious."""
    result = vigil("run", "--nproc", RANKS, "--", *workload("hangs", "lock", "--at", 40, "--steps", 400, "--patience", 8.5), timeout=120)
    assert result.status == 1 and not events(vigil, "suspected"), result
    report = vigil.why()
    assert (report["kind"], report["cause"]["id"], report["culprit_ranks"]) == ("error_exit", "missing_rank", [1]), report
    assert {s["rank"] for s in report["stacks"]} == set(range(RANKS)), "the stacks of all ranks"


def test_what_was_seen_before_a_watchdog_aborted_a_rank_is_in_the_report(vigil):
    result = vigil("run", "--nproc", RANKS, "--", *workload("hangs", "lock", "--kept", "--at", 40, "--steps", 400, "--ddp-timeout", 15,
                                                            "--watchdog"), timeout=120)
    assert result.status == 128 + signal.SIGABRT, result
    report = vigil.why()
    assert (report["kind"], report["cause"]["id"], report["culprit_ranks"]) == ("peer_lost", "missing_rank", [1]), report
    assert {s["rank"] for s in report["stacks"]} == set(range(RANKS)), report


def test_where_ranks_stood_that_a_short_time_out_ended_is_in_the_report(vigil):
    """Before anything could be suspected; what the rank says that gave up is what makes vigil look before it ends the others."""
    result = vigil("run", "--nproc", RANKS, "--", *workload("hangs", "lock", "--kept", "--at", 40, "--steps", 400, "--ddp-timeout", 2),
                   timeout=120)
    assert result.status == 1 and not events(vigil, "suspected"), result
    report = vigil.why()
    stood = [e["text"] for e in report["evidence"] if e["kind"] == "stacks"]
    assert any(text.startswith("rank 1: a lock at hangs.py:") for text in stood), report
    assert 1 in {s["rank"] for s in report["stacks"]} and "Job.lock" in str(report["stacks"]), report


def test_ranks_are_not_looked_at_when_one_fails_by_itself(vigil):
    result = vigil("run", "--nproc", RANKS, "--", *workload("hangs", "exception_ends", "--at", 10, "--steps", 400), timeout=60)
    assert result.status == 1, result
    assert "stacks" not in vigil.why()


def test_a_suspicion_that_was_over_is_not_in_the_report_of_a_later_end(vigil):
    """It stood for 12 s, made steps again, and failed for a reason of its own."""
    script = ("import time\nfor i in range(200):\n print(f'step {i}/1000', flush=True)\n"
              " time.sleep(12.5 if i == 60 else 0.1)\nraise TimeoutError('the licence server timed out')")
    result = vigil("run", "--", "python3", "-c", script, timeout=120)
    assert result.status == 1, result
    report = vigil.why()
    assert events(vigil, "suspected") and report["cause"]["id"] == "python_exception", report
    assert "hang" not in report and not [e for e in report["evidence"] if e["kind"] == "suspicion"], report


def test_restarting_without_retries_is_refused(vigil):
    result = vigil("run", "--on-hang", "restart", "--", "true")
    assert result.status == 125 and "--retries" in result.text


def test_a_watched_job_is_not_ended_unless_asked(vigil, tmp_path):
    result = vigil("watch", "--pid", os.getpid(), "--on-hang", "restart")
    assert result.status == 2 and "cannot start it again" in result.text
    for command in ("watch", "agent"):
        assert b"restart it" not in vigil("help", command).out, "what is refused is not offered"
    assert b"report|kill|restart" in vigil("help", "run").out


def test_a_job_that_vigil_did_not_start_is_judged_as_well(vigil):
    job = vigil.start("run", "--hang-after", "0", "--nproc", 2, "--", *workload("hangs", "lock", "--at", 5))
    def ranks_of_job():
        """Vigil's own processes have the job's words in their command line, too."""
        found = [c for c in psutil.Process(job.pid).children(recursive=True) if c.name().startswith("python")]
        return found if len(found) == 2 else None
    ranks = wait_for(ranks_of_job, 20, "the ranks")
    p = vigil.start("watch", "--pid", job.pid, "--hang-after", "3s")
    wait_for(lambda: events(vigil, "hang"), 60, "the report")
    assert looks(vigil.why(events(vigil, "hang")[0]["incident"]))[0] == "hang"
    assert all(r.is_running() for r in ranks)
    p.terminate()
    p.wait(20)


# Somebody else's: its output goes where its shell sends it.
STRANGER = """if 1:
    import sys, threading, time
    for i in range(60):
        print(f"step {i}/1000 loss 0.5", flush=True)
        time.sleep(0.1)
    threading.Thread(target=time.sleep, args=(600,)).start()
    raise RuntimeError("expected 8 samples")
"""


@pytest.mark.parametrize("mode,found", [("w", True), ("a", True), ("old", False)])
def test_a_watched_job_s_own_files_are_its_log(vigil, tmp_path, mode, found):
    log = tmp_path / "log"
    if mode == "old":
        log.write_text("step 9/1000\n")
        time.sleep(6)
    with open(log, "w" if mode == "w" else "a") as out, \
            subprocess.Popen([sys.executable, "-c", STRANGER], stdout=out, stderr=out) as job:
        try:
            p = vigil.start("watch", "--pid", job.pid, "--hang-after", "3s")
            wait_for(lambda: events(vigil, "hang"), 90, "the report")
            evidence = [e["text"] for e in vigil.why(events(vigil, "hang")[0]["incident"])["evidence"]]
        finally:
            job.kill()
        vigil.finish(p, 30)
    assert any("expected 8 samples" in text for text in evidence) == found, evidence
    assert any("does not keep this job's output" in text for text in evidence) != found, evidence
    assert any("step 59" in text for text in evidence) == found, evidence


def test_watching_another_user_s_job_says_at_once_what_will_be_missed(nobodys_vigil, as_nobody):
    if not as_nobody:
        pytest.skip("needs root")
    with subprocess.Popen(["sleep", "60"]) as job:
        p = nobodys_vigil.start("watch", "--pid", job.pid, prefix=as_nobody, cwd=nobodys_vigil.folder)
        time.sleep(2)
        job.kill()
        result = nobodys_vigil.finish(p, 30)
    assert "may neither end it nor see its stacks" in result.text, result


def test_a_watched_job_is_ended_when_asked(vigil):
    job = vigil.start("run", "--hang-after", "0", "--nproc", 2, "--", *workload("hangs", "lock", "--at", 5))
    pids = ranks_of(job, 2)
    p = vigil.start("watch", "--pid", job.pid, "--hang-after", "3s", "--on-hang", "kill")
    psutil.wait_procs([psutil.Process(pid) for pid in pids], timeout=60)
    assert not any(psutil.pid_exists(pid) for pid in pids), "the ranks are ended"
    assert vigil.why(events(vigil, "hang")[0]["incident"])["kind"] == "hang"
    p.terminate()
    p.wait(20)


def test_the_death_of_the_watcher_is_said_and_survived(vigil):
    p = vigil.start("run", "--hang-after", "3s", "--on-hang", "kill", "--nproc", 2, "--", *workload("hangs", "lock", "--at", 5))
    first = watcher_of(p)
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: events(vigil, "hang_watcher_died"), 20, "the event")
    assert watcher_of(p) != first
    result = vigil.finish(p, 90)
    assert result.status == 124, result
    assert "watches for hangs died" in result.text


def test_nobody_watches_when_told_not_to(vigil):
    p = vigil.start("run", "--hang-after", "0", "--", "sleep", "30")
    wait_for(lambda: psutil.Process(p.pid).children(), 20, "the job")
    with pytest.raises(pytest.fail.Exception):
        wait_for(lambda: any(c.name() == "vigil-hang" for c in psutil.Process(p.pid).children()), 4)
    p.terminate()
    p.wait(20)


BENIGN = ("sleep", "checkpoint", "download", "compile", "evaluation", "idle_end")


@pytest.mark.parametrize("what", BENIGN)
def test_what_only_looks_like_a_hang_is_left_alone(vigil, what):
    result = vigil("run", "--hang-after", "3s", "--on-hang", "kill", "--nproc", 2, "--",
                   *workload("hangs", what, "--culprit", 0, "--at", 5, "--steps", 10, "--last", 16), timeout=120)
    assert result.status == 0, result
    assert not events(vigil, "hang"), result


def test_a_long_first_step_is_left_alone(vigil):
    result = vigil("run", "--hang-after", "3s", "--on-hang", "kill", "--nproc", 2, "--",
                   *workload("hangs", "work", "--culprit", 0, "--at", 0, "--steps", 5, "--last", 16), timeout=120)
    assert result.status == 0, result
    assert not events(vigil, "hang"), result


def test_a_job_that_was_stopped_as_a_whole_is_left_alone(vigil):
    p = vigil.start("run", "--hang-after", "3s", "--on-hang", "kill", "--nproc", 2, "--",
                    *workload("hangs", "none", "--at", -1, "--steps", 40))
    watcher_of(p)
    ranks = [c for c in psutil.Process(p.pid).children(recursive=True) if not c.name().startswith("vigil-")]
    for c in ranks:
        c.suspend()
    (why,) = wait_for(lambda: events(vigil, "standstill"), 60, "it to be told as benign")
    assert not events(vigil, "hang")
    text = vigil("why").out.decode()
    assert "no incident so far" in text and why["text"] in text and "nothing has happened" not in text, text
    for c in ranks:
        c.resume()
    assert p.wait(60) == 0


# It starts its ranks itself, with one stderr for all; rank 1 fails, and its other thread keeps it alive.
LAUNCHER = """if 1:
    import os, subprocess, sys, threading, time
    if "RANK" in os.environ:
        threading.Thread(target=lambda: time.sleep(600) if os.environ["RANK"] == "1" else None).start()
        if os.environ["RANK"] == "1":
            raise RuntimeError("expected 8 samples")
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()
    me = ["python3", "-c", os.environ["ME"]]
    ranks = [subprocess.Popen(me, env={**os.environ, "RANK": str(i), "WORLD_SIZE": "2"}) for i in range(2)]
    sys.exit(max([p.wait() for p in ranks]))
"""


def test_an_error_that_no_rank_is_known_for_is_evidence(vigil):
    result = vigil("run", "--hang-after", "4s", "--on-hang", "kill", "--", sys.executable, "-c", LAUNCHER,
                   env={"ME": LAUNCHER}, timeout=150)
    assert result.status == 124, result
    report = vigil.why()
    said = [e["text"] for e in report["evidence"] if "expected 8 samples" in e["text"]]
    assert any("lines do not name: RuntimeError: expected 8 samples" in text for text in said), report
    assert any("2 ranks share it" in e["text"] for e in report["evidence"] if e["kind"] == "not_read"), report
    # rank 1 alone is at its end
    assert looks(report) == ("hang", "one_rank_failed", [1]), report


def test_an_error_whose_lines_name_a_rank_is_that_rank_s(vigil):
    """As PyTorch 2.3 and later and torchrun --tee write it: of all who share one stderr, also before another's last word."""
    script = LAUNCHER.replace('raise RuntimeError("expected 8 samples")',
                              'print("[rank1]: Traceback (most recent call last):\\n[rank1]:   File \\"t.py\\", line 1, in f\\n'
                              '[rank1]: RuntimeError: expected 8 samples", file=sys.stderr, flush=True); sys.exit(1)')
    result = vigil("run", "--hang-after", "4s", "--on-hang", "kill", "--", sys.executable, "-c", script, env={"ME": script},
                   timeout=150)
    assert result.status == 124, result
    report = vigil.why()
    assert report["culprit_ranks"] == [1] and report["cause"]["id"] == "one_rank_failed", report
    assert "expected 8 samples" in shown(report) and not any("2 ranks share it" in e["text"] for e in report["evidence"])


# rank 1's loss is NaN from step 12 on, of both attempts
NAN = """if 1:
    import os, sys, time
    for i in range(60):
        loss = "nan" if i >= 12 and os.environ["RANK"] == "1" else "0.5"
        print(f"[train] it={i} of 1000 | L={loss}", flush=True)
        time.sleep(0.1)
    sys.exit(os.environ.get("VIGIL_ATTEMPT", "1") == "1")
"""
PATTERN = r"it=(?<step>\d{1,9}) of (?<total>\d+) \| L=(?<loss>[^ ]+)"


@pytest.mark.parametrize("by", ["flag", "file"])
def test_a_loss_that_a_user_s_pattern_finds_broken_is_an_event(vigil, tmp_path, by):
    args, env = ["--progress-pattern", "never (?<epoch>x)", "--progress-pattern", PATTERN], {}
    if by == "file":
        (tmp_path / "v.yaml").write_text(f"run:\n  progress-pattern:\n    - 'never (?<epoch>x)'\n    - '{PATTERN}'\n")
        args, env = [], {"VIGIL_CONFIG": str(tmp_path / "v.yaml")}
    result = vigil("run", *args, "--nproc", 2, "--retries", 1, "--retry-on", "any", "--backoff", "0", "--",
                   sys.executable, "-c", NAN, env=env)
    told = events(vigil, "loss_broken")
    assert [e["text"] for e in told] == ["rank 1: the loss became NaN at step 12; that alone stops nothing"], result


# rank 1 is far behind the others when they stand
APART = """if 1:
    import os, threading, time
    ahead = 0 if os.environ["RANK"] == "1" else 5000
    for i in range(60):
        print(f"[train] it={i + ahead} of 100000 | L=0.5", flush=True)
        time.sleep(0.1)
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
"""


@pytest.mark.parametrize("args,found", [(("--progress-pattern", PATTERN), True), ((), False)])
def test_the_cause_book_compares_ranks_by_the_user_s_pattern(vigil, args, found):
    result = vigil("run", "--hang-after", "4s", "--on-hang", "kill", *args, "--nproc", 3, "--", sys.executable, "-c", APART,
                   timeout=120)
    assert result.status == 124, result
    report = vigil.why()
    assert ("Ranks stand at different epochs or steps" in shown(report)) == found, report


@pytest.mark.parametrize("pattern,says", [
    ("it=[0-9]+", "--progress-pattern: 'it=[0-9]+', character 1: no part is named; at least one of (?<step>…)"),
    ("it=(?<stp>x)", "--progress-pattern: 'it=(?<stp>x)', character 4: a named part is (?<step>…)"),
    ("(?<step>x)" + 400 * "y", "the pattern is longer than 383 bytes"),
])
def test_a_pattern_of_progress_that_cannot_be_used_is_refused(vigil, pattern, says):
    result = vigil("run", "--progress-pattern", pattern, "--", "true")
    assert result.status == 125 and says in result.text, result
    many = [word for _ in range(9) for word in ("--progress-pattern", "(?<step>x)")]
    result = vigil("run", *many, "--", "true")
    assert result.status == 125 and "--progress-pattern: more than 8 values; 8 is the most" in result.text, result


def test_a_rank_that_is_slower_than_the_others_is_named(vigil):
    """Three tenths, from its first step on: the job's own pace never changes, so only the comparison of ranks shows it."""
    p = vigil.start("run", "--nproc", 4, "--", *workload("hangs", "slow", "--culprit", 2, "--at", 1, "--step-s", 0.3,
                                                         "--steps", 600))
    wait_for(lambda: events(vigil, "straggler") or p.poll() is not None, 150, "the straggler")
    report = vigil.why(events(vigil, "straggler")[0]["incident"])
    assert (report["kind"], report["culprit_ranks"]) == ("straggler", [2]), report
    p.terminate()
    p.wait(20)


@pytest.mark.parametrize("by,culprit", [("ring", 2), ("hub", 0), ("hub", 3), ("thread", 1)])
def test_a_slow_rank_is_named_whatever_the_ranks_talk_by(vigil, tmp_path, by, culprit):
    """No name of a library tells who waits: the sockets of the ranks do."""
    p = vigil.start("run", "--nproc", 4, "--", *workload("pace", "--by", by, "--folder", tmp_path, "--culprit", culprit))
    wait_for(lambda: events(vigil, "straggler") or p.poll() is not None, 150, "the straggler")
    report = vigil.why(events(vigil, "straggler")[0]["incident"])
    assert (report["kind"], report["culprit_ranks"]) == ("straggler", [culprit]), report
    p.terminate()
    p.wait(20)


def test_a_slow_rank_of_a_program_without_python_is_named(vigil, tmp_path):
    program = tmp_path / "pace"
    subprocess.run(["gcc", "-O1", "-o", program, WORKLOADS / "pace.c"], check=True)
    p = vigil.start("run", "--nproc", 4, "--", program, tmp_path, 1)
    wait_for(lambda: events(vigil, "straggler") or p.poll() is not None, 150, "the straggler")
    report = vigil.why(events(vigil, "straggler")[0]["incident"])
    assert (report["kind"], report["culprit_ranks"]) == ("straggler", [1]), report
    p.terminate()
    p.wait(20)


@pytest.mark.parametrize("by", ["ring", "hub", "thread"])
def test_ranks_that_are_equally_fast_are_left_alone(vigil, tmp_path, by):
    p = vigil("run", "--nproc", 4, "--", *workload("pace", "--by", by, "--folder", tmp_path, "--steps", 200), timeout=120)
    assert p.status == 0 and not events(vigil, "straggler") and not events(vigil, "hang"), p


# It prints a line now and then, and no steps; then it is silent, and works.
SILENT = """if 1:
    import time

    def go_round(seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pass

    for i in range(150):
        go_round(0.3)
        print("batch done, all is well", flush=True)
        time.sleep(0.2)

    go_round(600)
"""


@pytest.mark.slow
def test_a_job_without_steps_that_falls_silent_and_goes_round_is_told_of_but_not_ended(vigil, tmp_path):
    script = tmp_path / "job.py"
    script.write_text(SILENT)
    # What goes round is told by the core that it uses: its neighbours are not to have half of it.
    first = ("nice", "-n", "-10") if os.geteuid() == 0 else ()
    p = vigil.start("run", "--hang-after", "4s", "--on-hang", "kill", "--", sys.executable, script, prefix=first)
    wait_for(lambda: events(vigil, "hang") or p.poll() is not None, 400, "the report")
    assert any("no line for" in e["text"] for e in events(vigil, "suspected")), events(vigil)
    report = vigil.why(events(vigil, "hang")[0]["incident"])
    assert (report["cause"]["id"], report["cause"]["confidence"]) == ("spin", "low"), report
    assert "in go_round" in report["cause"]["text"] and "prints no steps" in report["cause"]["text"], report
    with pytest.raises(subprocess.TimeoutExpired):
        p.wait(3)
    p.terminate()
    p.wait(20)


MODULE = """
import time
for i in range(60):
    print(f"step {i}/400", flush=True)
    time.sleep(0.1)
x = 1.0
while True:
    x = x * 1.0000001 if x < 9 else 1.0
"""


@pytest.mark.slow
def test_a_module_that_computes_does_not_only_look(vigil, tmp_path):
    """Its variables are the module's, of which nothing is known: that they do not change is not said."""
    script = tmp_path / "job.py"
    script.write_text(MODULE)
    first = ("nice", "-n", "-10") if os.geteuid() == 0 else ()
    p = vigil.start("run", "--", sys.executable, script, prefix=first)
    wait_for(lambda: events(vigil, "suspected"), 90, "the suspicion")
    begin = time.monotonic()
    wait_for(lambda: events(vigil, "hang") or time.monotonic() - begin > 75, 100, "a minute without a step")
    assert not events(vigil, "hang"), vigil.why(events(vigil, "hang")[0]["incident"])
    p.terminate()
    p.wait(20)


def test_a_slowdown_of_short_steps_has_its_real_figure(vigil):
    """Steps of 0.2 s and then 0.3, of which vigil sees some at a time."""
    script = "import time\nfor i in range(4000):\n print(f'step {i}/4000', flush=True)\n time.sleep(0.2 if i < 300 else 0.3)"
    p = vigil.start("run", "--", sys.executable, "-c", script)
    wait_for(lambda: events(vigil, "slowdown") or p.poll() is not None, 150, "the slowdown")
    report = vigil.why(events(vigil, "slowdown")[0]["incident"])
    assert 0.42 < report["hang"]["slower_ratio"] < 0.58, report
    p.terminate()
    p.wait(20)


# What the cause book says ----------------------------------------------------------------------------------------

SPAWN = ("none", "--spawn", RANKS)


def test_a_rank_that_was_given_twice_is_seen(judged):
    """The launcher's mistake: no rank 2 ever comes, and two processes say that they are rank 1."""
    report = judged((), *SPAWN, "--set", "2:RANK=1")
    assert looks(report) == ("hang", "rendezvous_mismatch", [1]), report
    assert "RANK: 1 is given to more than one process" in report["cause"]["text"]
    assert "rank_given_twice" in shown(report), report


@pytest.mark.parametrize("odd", [0, 1, 2])
def test_the_rank_that_was_not_told_where_to_meet_is_named(judged, odd):
    """Whichever it is: what most ranks have is right."""
    report = judged((), *SPAWN, "--set", f"{odd}:MASTER_ADDR=")
    assert looks(report) == ("hang", "rendezvous_mismatch", [odd]), report
    assert f"unset on {odd}" in report["cause"]["text"]


def test_settings_of_nccl_that_differ_are_shown(judged):
    report = judged((), "mismatch", "--spawn", RANKS, "--at", 1, "--set", "2:NCCL_ALGO=Tree", "--set", "0:NCCL_ALGO=Ring",
                    "--set", "1:NCCL_ALGO=Ring")
    assert report["culprit_ranks"] == [1], report
    assert "different values of NCCL_ALGO" in shown(report), report


def test_gpudirect_on_some_machines_only_is_named(judged):
    nccl = "[0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0"
    report = judged(("--nproc", RANKS), "size", "--at", 1, "--culprit", 2, "--say", f"0:n0:11:12 {nccl}/GDRDMA", "--say",
                    f"1:n0:13:14 {nccl}/GDRDMA", "--say", f"2:n1:15:16 {nccl}")
    assert report["cause"]["id"] == "gdr_mismatch", report
    assert "n1 does not" in report["cause"]["text"] and report["cause"]["advice"]


RULE = """rule licence_server
    source: stack
    role: root
    confidence: medium
    blame: self
    all: hangs\\.py;Job\\.licence;hangs\\.py;Job\\.wait_for_licence
    extract rank: rank=([0-9]+)
    cause: Rank {rank} waits for a licence.
    advice: Ask for more licences.
"""


def test_a_rule_about_stacks_names_the_cause(judged, tmp_path):
    rules = tmp_path / "own.rules"
    rules.write_text(RULE)
    report = judged(("--nproc", RANKS, "--rules", rules), "licence", "--at", 20, "--steps", 400)
    assert looks(report) == ("hang", "licence_server", [1]), report
    assert "Rank 1 waits for a licence." in report["cause"]["text"]
    assert "Ask for more licences." in report["cause"]["advice"]


def test_a_port_that_went_down_is_the_cause(vigil, tmp_path):
    """An adapter that is a folder: the port is up when the job begins, and down when it stands."""
    port = tmp_path / "sys/class/infiniband/mlx5_0/ports/1"
    (port / "counters").mkdir(parents=True)
    (port / "state").write_text("4: ACTIVE\n")
    (port / "phys_state").write_text("5: LinkUp\n")
    (port / "counters/link_downed").write_text("0\n")
    p = vigil.start("run", "--hang-after", "4s", "--on-hang", "kill", "--nproc", RANKS, "--",
                    *workload("hangs", "size", "--culprit", 2, "--at", 60, "--steps", 400), env={"VIGIL_SYS_PATH": tmp_path / "sys"})
    watcher_of(p)
    ranks_of(p, RANKS)
    wait_for(lambda: b"step 40/" in b"".join(f.read_bytes() for f in vigil.state.glob("jobs/*/attempt-0/rank-0.out")), 30,
             "the job to run")
    (port / "state").write_text("1: DOWN\n")
    (port / "phys_state").write_text("2: Polling\n")
    result = vigil.finish(p, 90)
    assert result.status == 124, result
    report = vigil.why()
    assert report["cause"]["id"] == "ib_port_down", report
    assert "mlx5_0:1" in report["cause"]["text"], report


# What the ranks' error files say --------------------------------------------------------------------------------

def error_shown(report):
    return [e for e in report["evidence"] if e["kind"] == "error_file"]


def test_an_exception_that_only_the_error_file_tells_of_is_the_cause(judged):
    report = judged(("--nproc", RANKS), "exception", "--at", 20, "--steps", 400, "--record")
    assert looks(report) == ("hang", "one_rank_failed", [1]), report
    assert "an illegal memory access" in report["cause"]["text"]
    first = error_shown(report)[0]
    assert first["source"] == "rank-1.error.json"
    assert first["text"].startswith("rank 1 at 20") and "hangs.py" in first["text"] and "(exception)" in first["text"]


def test_of_a_cascade_of_deaths_the_first_exception_is_the_root(vigil):
    """Rank 1 fails; ranks 0 and 2 lose their peer and end, while rank 1 is still about to."""
    result = vigil("run", "--nproc", RANKS, "--", *workload("hangs", "cascade", "--at", 5, "--steps", 400, "--record"),
                   timeout=90)
    assert result.status == 1, result
    report = vigil.why()
    assert report["victim"]["rank"] != 1, "who ended first is not who failed first"
    assert (report["kind"], report["cause"]["id"], report["culprit_ranks"]) == ("error_exit", "rank_failed_first", [1]), report
    assert "a batch of 7 where 8 were expected" in report["summary"]
    shown = error_shown(report)
    assert shown[0]["source"] == "rank-1.error.json" and "(cascade)" in shown[0]["text"]
    assert any("Connection closed by peer" in e["text"] for e in shown[1:]), shown
    assert shown[0]["time_unix_ms"] <= report["time_unix_ms"]
    assert "rank 1" in vigil("why", "last").out.decode().lower()


def test_its_own_exception_is_found_where_its_output_has_none(vigil):
    result = vigil("run", "--nproc", 2, "--", *workload("hangs", "exception_ends", "--at", 3, "--culprit", 1, "--record"), timeout=60)
    assert result.status == 1, result
    report = vigil.why()
    assert (report["cause"]["id"], report["victim"]["rank"]) == ("python_exception", 1), report
    assert "KeyError" in report["summary"] and "hangs.py" in report["cause"]["text"]


def test_where_errors_are_written_is_told_to_ranks_unless_the_user_has_said_so(vigil, tmp_path):
    # In one piece: without buffers a line and its end are two writes, and ranks write at the same time.
    say = ("python3", "-c", "import os; os.write(1, f\"{os.environ.get('TORCHELASTIC_ERROR_FILE')}\\n\".encode())")
    said = vigil("run", "--nproc", 2, "--", *say).out.decode().split()
    assert sorted(said) == [str(vigil.log(r).parent / f"rank-{r}.error.json") for r in range(2)]
    said = vigil("run", "--nproc", 2, "--", *say, env={"TORCHELASTIC_ERROR_FILE": tmp_path / "own"})
    assert said.out.decode().split() == [str(tmp_path / "own")] * 2
    assert vigil("run", "--", *say).out.decode().split() == ["None"]


# What the collective library says ---------------------------------------------------------------------------------

def test_dumps_of_the_ranks_name_who_all_stand_like(vigil, tmp_path):
    """All ranks stand in all_reduce in one line; only their dumps, written when they are asked, tell them apart."""
    for r in world(RANKS):
        odd = r.rank == 2
        r.call().call("all_reduce", (7,) if odd else (8,), False).write(tmp_path, name="ready_")
        os.mkfifo(tmp_path / f"pipe_{r.rank}.pipe")
        # of another day, and of another cause: must not be believed
        old = world(RANKS)[r.rank].call()
        if r.rank != 1:
            old.call(done=False)
        os.utime(old.write(tmp_path, name="fr_"), (1e9, 1e9))
    result = vigil("run", "--hang-after", "4s", "--on-hang", "kill", "--nproc", RANKS, "--",
                   *workload("hangs", "size", "--culprit", 2, "--at", 20, "--steps", 400, "--dumps", tmp_path), timeout=90,
                   env={"TORCH_NCCL_DEBUG_INFO_TEMP_FILE": tmp_path / "fr_",
                        "TORCH_NCCL_DEBUG_INFO_PIPE_FILE": tmp_path / "pipe_"})
    assert result.status == 124, result
    report = vigil.why()
    assert looks(report) == ("hang", "mismatched_collective", [2]), report
    assert any(e["kind"] == "collective" for e in report["evidence"]), report


@pytest.mark.parametrize("manner,cause,culprits", [("json", "missing_rank", [1]), ("stall", None, [])])
def test_ras_is_asked_once_the_job_is_old_enough(vigil, tmp_path, manner, cause, culprits):
    library = tmp_path / "libnccl.so.2.28.9"
    library.write_bytes(b"x" * 4096)
    server = RasServer([{}], manner)
    p = vigil.start("run", "--hang-after", "4s", "--on-hang", "kill", "--nproc", RANKS, "--",
                    *workload("hangs", "size", "--culprit", 2, "--at", 64, "--step-s", 1, "--steps", 400, "--maps", library),
                    env={"NCCL_RAS_ADDR": server.address})
    server.answers = [ras_report(ranks_of(p, RANKS), [41, 40, 41])]
    result = vigil.finish(p, 150)
    server.close()
    assert result.status == 124, result
    report = vigil.why()
    assert report["kind"] == "hang" and server.commands, report
    if cause:
        assert looks(report) == ("hang", cause, culprits), report
    else:
        # suspected, then asked for eight seconds at most; what stacks say does not wait for more
        assert report["hang"]["standstill_ms"] - report["hang"]["suspected_ms"] < 25_000, report
        assert 1 not in report.get("culprit_ranks", [])
