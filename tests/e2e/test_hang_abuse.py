"""What comes in the way of an examination: ranks that vanish, clocks that are wrong, logs that are huge or no text, servers
that are dead. Nothing of it may end vigil, change a verdict, or make it tell times that cannot be."""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

import psutil
import pytest

from conftest import wait_for, workload
from hangkit import events, looks
from notifykit import channels, free_port, spool_of  # noqa: F401 (fixtures)
from ranksim import world

YEARS_S = 10 * 365 * 86400
RANKS = 3


def tool(binary, name):
    path = binary.parents[2] / "tests/tool" / name
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return path


@pytest.fixture
def program(binary):
    return tool(binary, "mpiranks")


def ranks_of(pid):
    """rank: process. A fork has its parent's number: what was first is the rank."""
    found = {}
    for child in psutil.Process(pid).children(recursive=True):
        try:
            if child.name() == "mpiranks":
                found.setdefault(int(child.environ()["RANK"]), child)
        except (psutil.NoSuchProcess, KeyError, psutil.ZombieProcess):
            pass
    return found


# Ranks that vanish -------------------------------------------------------------------------------------------------

def test_children_that_come_and_go_all_the_time_hide_nothing(vigil, program):
    result = vigil("run", "--hang-after", "4s", "--on-hang", "kill", "--nproc", RANKS, "--", program, "lock", "churn=1", timeout=90)
    assert result.status == 124, result
    assert looks(vigil.why()) == ("hang", "missing_rank", [1])
    assert not events(vigil, "hang_watcher_died"), result


# so long after the suspicion, that is: before, between and behind the looks at the stacks
@pytest.mark.parametrize("after_s", [0, 2.5])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_job_that_ends_while_it_is_looked_at_is_no_hang(vigil, program, after_s, how):
    # nothing but the timing of the test may end it
    p = vigil.start("run", "--hang-after", "4s", "--nproc", RANKS, "--", program, "lock", "at=10")
    wait_for(lambda: events(vigil, "suspected"), 60, "the suspicion")
    ranks = ranks_of(p.pid)
    with pytest.raises(subprocess.TimeoutExpired):
        p.wait(after_s or 0.01)
    for rank in ranks.values():
        with contextlib.suppress(ProcessLookupError): # vigil ends the others once one has ended
            os.kill(rank.pid, how)
    result = vigil.finish(p, 30)
    assert result.status == 128 + how, result
    assert not events(vigil, "hang") and not events(vigil, "hang_watcher_died"), result
    assert vigil.why()["kind"] != "hang"


def test_a_rank_that_dies_while_it_is_looked_at_is_the_culprit(vigil, program):
    """Its launcher does not notice, and the others wait on."""
    p = vigil.start("run", "--hang-after", "4s", "--on-hang", "kill", "--", program, "lock", "culprit=2", "deaf=1", f"spawn={RANKS}")
    wait_for(lambda: events(vigil, "suspected"), 60, "the suspicion")
    ranks_of(p.pid)[2].kill()
    result = vigil.finish(p, 60)
    assert result.status == 124, result
    report = vigil.why()
    assert looks(report) == ("hang", "dead_rank", [2]), report
    assert not events(vigil, "hang_watcher_died"), result


# Clocks ------------------------------------------------------------------------------------------------------------

@pytest.fixture
def clock(binary, tmp_path):
    """clock(seconds) sets the wall clock of what runs with clock.env."""
    path = tmp_path / "clock"

    def by(seconds):
        path.with_suffix(".new").write_text(str(seconds))
        path.with_suffix(".new").rename(path)
    by.env = {"LD_PRELOAD": tool(binary, "wrongclock.so"), "WRONG_CLOCK": path}
    by(0)
    return by


def times_make_sense(vigil, job):
    assert 5_000 < job["ended_unix_ms"] - job["started_unix_ms"] < 90_000, job
    shown = vigil("show", job["id"]).out.decode()
    assert re.search(r"ended .*, after [0-9.]+ s$|after 1 min", shown, re.M), shown
    (row,) = [line for line in vigil("jobs").out.decode().splitlines() if job["id"] in line]
    rest = row.replace(job["id"], "")  # an id may end in anything, "-9" too
    assert not re.search(r"\d{3,} h", rest) and "-9" not in rest, row


@pytest.mark.parametrize("by_s", [YEARS_S, -YEARS_S])
def test_a_clock_that_is_set_meanwhile_changes_no_verdict_and_no_length(vigil, program, clock, by_s):
    p = vigil.start("run", "--hang-after", "4s", "--on-hang", "kill", "--nproc", RANKS, "--", program, "lock", env=clock.env)
    wait_for(lambda: vigil.state.exists() and list(vigil.state.glob("jobs/*/attempt-0/rank-0.out")), 20, "the job")
    clock(by_s)
    wait_for(lambda: events(vigil, "suspected"), 60, "the suspicion")
    running = vigil("jobs", env=clock.env).out.decode()
    assert not re.search(r"\d{3,} h", running), running
    result = vigil.finish(p, 60)
    assert result.status == 124, result
    report = vigil.why()
    assert looks(report) == ("hang", "missing_rank", [1]), report
    assert 4_000 <= report["hang"]["standstill_ms"] < 40_000, report
    assert 0 <= report["hang"]["suspected_ms"] <= report["hang"]["standstill_ms"], report
    assert abs(report["time_unix_ms"] / 1000 - time.time() - by_s) < 120
    (told,) = events(vigil, "clock_set")
    assert f"set {'forward' if by_s > 0 else 'back'} by" in told["text"], told
    times_make_sense(vigil, json.loads(vigil("jobs", "--json").out))
    assert vigil("timeline", "-o", vigil.state / "t.json").status == 0
    json.loads((vigil.state / "t.json").read_text())


@pytest.mark.parametrize("by_s", [YEARS_S, -YEARS_S])
def test_a_state_folder_that_was_written_at_another_time_is_read(vigil, clock, by_s):
    clock(by_s)
    assert vigil("run", "--name", "then", "--", "sh", "-c", "exit 3", env=clock.env).status == 3
    assert vigil("run", "--name", "now", "--", "sh", "-c", "exit 4").status == 4
    for command in ("jobs", "events", "show", "ps", "timeline", "logs", "mem"):
        result = vigil(command)
        assert "-" + str(YEARS_S)[:4] not in result.out.decode(errors="replace") and "Traceback" not in result.text
        assert result.status in (0, 1, 4), (command, result)
    assert vigil.why()["victim"]["exit_code"] == 4, "the last is the one that was stored last"
    assert {json.loads(line)["name"] for line in vigil("jobs", "--json").out.splitlines()} == {"then", "now"}
    assert vigil("jobs", "--forget", "1h").status == 0
    kept = {json.loads(line)["name"] for line in vigil("jobs", "--json").out.splitlines()}
    assert kept == ({"then", "now"} if by_s > 0 else {"now"}), "what is of a time to come is not old"


def test_dates_in_the_logs_do_not_change_the_cause(vigil):
    """The culprit's clock is years behind and the others' are ahead: what is root and what follows is told by the words."""
    say = [word for rank, text in (
        (0, "[2055-01-01 00:00:00] Failed to recv, got 0 bytes. Connection was likely closed."),
        (1, "[1999-12-31 23:59:59] RuntimeError: DataLoader timed out after 60 seconds"),
        (2, "[1970-01-01 00:00:00] Failed to recv, got 0 bytes. Connection was likely closed.")) for word in ("--say", f"{rank}:{text}")]
    result = vigil("run", "--hang-after", "4s", "--on-hang", "kill", "--nproc", RANKS, "--",
                   *workload("hangs", "lock", "--at", 20, "--steps", 400, *say), timeout=90)
    assert result.status == 124, result
    report = vigil.why()
    assert looks(report) == ("hang", "loader_timeout", [1]), report
    assert abs(report["time_unix_ms"] / 1000 - time.time()) < 60, "the report's time is not the log's"


@pytest.mark.parametrize("mtime", [1e9, 4e9])
def test_dumps_of_another_time_are_not_believed(vigil, tmp_path, mtime):
    """They accuse rank 2; it is rank 1 that stands in a lock of its own, and the others in the same collective."""
    for r in world(RANKS):
        r.call().call("all_reduce", (7,) if r.rank == 2 else (8,), False)
        os.utime(r.write(tmp_path, name="fr_"), (mtime, mtime))
    result = vigil("run", "--hang-after", "4s", "--on-hang", "kill", "--nproc", RANKS, "--",
                   *workload("hangs", "lock", "--at", 20, "--steps", 400), timeout=90,
                   env={"TORCH_NCCL_DEBUG_INFO_TEMP_FILE": tmp_path / "fr_"})
    assert result.status == 124, result
    report = vigil.why()
    assert looks(report) == ("hang", "orphaned_wait", [1]) and report["cause"]["confidence"] == "high", report
    assert not any(e["kind"] == "collective" for e in report["evidence"]), report


# Logs --------------------------------------------------------------------------------------------------------------

STUCK = """if 1:
    import os, sys, threading, time
    for i in range(40):
        print(f"step {i}/1000 loss 0.5", flush=True)
        time.sleep(0.1)
    threading.Thread(target=time.sleep, args=(600,)).start()
    raise RuntimeError("expected 8 samples")
"""


def watched(vigil, log, mode):
    with open(log, mode) as out, subprocess.Popen([sys.executable, "-c", STUCK], stdout=out, stderr=out) as job:
        try:
            p = vigil.start("watch", "--pid", job.pid, "--hang-after", "4s")
            wait_for(lambda: events(vigil, "hang"), 90, "the report")
            return vigil.why(events(vigil, "hang")[0]["incident"])
        finally:
            job.kill()
            vigil.finish(p, 30)


def test_a_log_of_ten_gigabytes_costs_no_time(vigil, tmp_path):
    """Appended to, as a job that was started again does; all but its end is a hole."""
    log = tmp_path / "log"
    log.write_text("begin\n")
    os.truncate(log, 10 << 30)
    report = watched(vigil, log, "a")
    assert report["hang"]["standstill_ms"] < 60_000, report
    assert any("expected 8 samples" in e["text"] for e in report["evidence"]), report


def test_a_kept_log_that_is_no_text_hides_no_hang(vigil):
    """A megabyte of any bytes, and one line of eight, before what the job says."""
    code = "import os,random\nos.write(1, random.Random(7).randbytes(1<<20))\nos.write(2, b'x' * (8<<20))\n"
    script = code + STUCK.replace("if 1:\n", "if 1:\n    os.write(1, b'\\n'); os.write(2, b'\\n')\n")
    result = vigil("run", "--hang-after", "4s", "--on-hang", "kill", "--", sys.executable, "-u", "-c", script, timeout=90)
    assert result.status == 124, result.text[-3000:]
    report = vigil.why()
    assert looks(report)[0] == "hang" and looks(report)[1] in ("waits_for_process", "waits_for_thread"), report
    assert "the interpreter's end" in report["cause"]["text"], report
    shown = [e["text"] for e in report["evidence"]]
    assert any("expected 8 samples" in text for text in shown) and any("step 39" in text for text in shown), report


def test_rules_read_a_log_of_five_gigabytes_in_constant_memory(vigil, tmp_path):
    log = tmp_path / "log"
    log.write_text("begin\n")
    os.truncate(log, 5 << 30)
    with open(log, "a") as f:
        f.write("\n[rank3]: RuntimeError: DataLoader timed out after 60 seconds\n")
    p = vigil.start("rules", "test", log)
    peak = 0
    while p.poll() is None:
        try:
            peak = max(peak, psutil.Process(p.pid).memory_info().rss)
        except psutil.NoSuchProcess:
            break
        try:
            p.wait(0.2)
        except subprocess.TimeoutExpired:
            pass
    result = vigil.finish(p, 120)
    assert result.status == 0 and b"verdict: loader_timeout" in result.out, result
    assert peak < 300 << 20, peak


# Servers -----------------------------------------------------------------------------------------------------------

def test_a_dead_webhook_delays_no_verdict_and_no_end(vigil, program, channels):
    env = channels([{"name": "dead", "kind": "webhook", "url": f"http://127.0.0.1:{free_port()}", "timeout": "30s"}])
    result = vigil("run", "--hang-after", "4s", "--on-hang", "kill", "--nproc", RANKS, "--", program, "lock", env=env, timeout=60)
    assert result.status == 124, result
    report = vigil.why()
    assert looks(report) == ("hang", "missing_rank", [1]) and report["hang"]["standstill_ms"] < 30_000, report
    item = wait_for(lambda: spool_of(vigil, env).get("dead"), 20, "the spool")
    assert item["waiting"] == 1, item
