"""`vigil run` at the end of a job: nothing of its output is lost, nothing of it is left, no case is forgotten."""
import json
import os
import pty
import signal
import subprocess
import sys
import time

import psutil
import pytest

from conftest import wait_for


def test_all_output_comes_through_a_terminal(vigil):
    for _ in range(5):
        ours, theirs = pty.openpty()
        process = vigil.start("run", "--quiet", "--", "seq", "30000", stdout=theirs, stderr=subprocess.DEVNULL)
        os.close(theirs)
        text = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the terminal's last writer is gone
                break
            if not piece:
                break
            text += piece
        os.close(ours)
        assert process.wait(20) == 0
        assert text.replace(b"\r\n", b"\n").split() == [b"%d" % i for i in range(1, 30001)]


def test_what_a_process_left_behind_writes_last_is_not_lost(vigil):
    result = vigil("run", "--quiet", "--", "sh", "-c", "(sleep 0.3; seq 20000) & exit 0")
    assert result.status == 0
    assert result.out.split()[-1] == b"20000"
    assert vigil.log().read_bytes() == result.out


# An entry point of a container: a helper beside the job, then exec.
BESIDE = ("sh", "-c", 'sleep 600 >/dev/null 2>&1 & echo $! > beside; exec "$@"', "sh")


def the_helper_lives_on(folder):
    pid = int((folder / "beside").read_text())
    lives = psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    if lives:
        os.kill(pid, signal.SIGKILL)
    return lives


@pytest.mark.parametrize("command", [["run", "--"], ["map", "-j2"]], ids=lambda c: c[0])
def test_what_ran_before_vigil_is_no_part_of_the_job(vigil, tmp_path, command):
    """Nobody waits for it, and it is not ended."""
    result = vigil(*command, "sh", "-c", "echo done", *([":::", "a", "b"] if command[0] == "map" else []), prefix=BESIDE, cwd=tmp_path, timeout=30)
    assert result.status == 0 and "still run" not in result.text, result
    assert the_helper_lives_on(tmp_path)


def test_what_ran_before_vigil_outlives_a_job_that_is_ended(vigil, tmp_path):
    process = vigil.start("run", "--", "sh", "-c", "touch up; sleep 600", prefix=BESIDE, cwd=tmp_path)
    wait_for((tmp_path / "up").exists)
    process.send_signal(signal.SIGTERM)
    result = vigil.finish(process, 30)
    assert result.status == 143 and "left the job's group" not in result.text, result
    assert the_helper_lives_on(tmp_path)


def test_a_helper_from_before_that_ends_is_reaped(vigil, tmp_path):
    """As the first process of a container vigil has nobody behind it that would; the job goes on."""
    script = 'kill $(cat beside); while kill -0 $(cat beside) 2>/dev/null; do sleep 0.05; done; echo reaped'
    result = vigil("run", "--", "sh", "-c", script, prefix=BESIDE, cwd=tmp_path, timeout=30)
    assert result.status == 0 and result.out == b"reaped\n", result


def test_children_of_ended_ranks_are_asked_before_they_are_killed(vigil, tmp_path):
    script = ("if [ $RANK = 1 ]; then while [ ! -e ready ]; do sleep 0.05; done; exit 7; fi;"
              " sh -c 'trap \"echo asked > asked; exit\" TERM; touch ready; while :; do sleep 0.05; done' & wait")
    began = time.monotonic()
    result = vigil("run", "--nproc", "2", "--", "sh", "-c", script, cwd=tmp_path)
    assert result.status == 7, result
    assert (tmp_path / "asked").read_text() == "asked\n"
    assert time.monotonic() - began < 8, "nobody waited for SIGKILL"


def test_the_third_request_ends_what_ignores_the_others(vigil, tmp_path):
    process = vigil.start("run", "--", "sh", "-c",
                          "(trap '' INT TERM; touch up; exec sleep 300) & wait", cwd=tmp_path)
    wait_for((tmp_path / "up").exists)
    left = [p for p in psutil.Process(process.pid).children(recursive=True) if p.name() == "sleep"]
    for _ in range(3):
        process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
    process.wait(5)
    wait_for(lambda: not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in left))


HOLDS = ("import os, sys, time\nblock = bytearray(64 << 20)\nfor i in range(0, len(block), 4096):\n    block[i] = 1\n"
         "pid = os.fork()\nif pid == 0:\n    time.sleep(600)\nprint('ready', flush=True)\nsys.stdin.readline()\n"
         "os.kill(pid, 9)\nos.wait()\n")


def test_ps_lists_workers_while_they_run_and_what_ended_ranks_held(vigil):
    job = vigil.start("run", "--name", "held", "--quiet", "--", sys.executable, "-c", HOLDS, stdin=subprocess.PIPE)
    assert job.stdout.readline() == b"ready\n"
    rows = [json.loads(line) for line in vigil("ps", "held", "--json").out.splitlines()]
    assert len(rows) == 2, rows
    main = next(r for r in rows if r["role"] == "main")
    worker = next(r for r in rows if r is not main)
    assert worker["ppid"] == main["pid"] and worker["running"], rows
    assert 64 << 20 <= main["own_bytes"] + worker["own_bytes"] < 90 << 20, "what both have counts once"
    looks = lambda: sum(p.stat().st_size for p in vigil.state.glob(f"jobs/{main['job']}/series*"))
    before = looks()
    wait_for(lambda: looks() > before)
    job.stdin.write(b"end\n")
    job.stdin.close()
    assert job.wait(20) == 0
    (row,) = [json.loads(line) for line in vigil("ps", "last", "--all", "--json").out.splitlines()]
    assert row["pid"] == main["pid"] and not row["running"]
    assert 64 << 20 <= row["peak_own_bytes"] < 100 << 20 and row["own_bytes"] > 0, row


def test_the_processes_of_every_attempt_are_kept(vigil):
    vigil("run", "--name", "again", "--retries", "1", "--retry-on", "crash", "--backoff", "0", "--", "sh", "-c", "exit 3")
    rows = [json.loads(line) for line in vigil("ps", "last", "--json").out.splitlines()]
    assert sorted(r["attempt"] for r in rows) == [0, 1]
    assert all(r["pid"] > 1 and r["name"] for r in rows), rows


def test_what_a_shell_became_is_what_crashed(vigil, tmp_path):
    """A shim is a shell that becomes the program after a while: the report names the program."""
    shim, go = tmp_path / "shim", tmp_path / "go"
    os.mkfifo(go)
    shim.write_text(f"#!/bin/bash\nread -r line < {go}\nexec /usr/bin/python3 -c 'import ctypes; ctypes.string_at(0)'\n")
    shim.chmod(0o755)
    job = vigil.start("run", "--retries", 0, "--", shim)
    names = lambda: [json.loads(row)["name"] for row in vigil("ps", "--json").out.splitlines()]
    wait_for(lambda: "shim" in names(), 10, "the shell to be known")
    go.write_text("now\n")
    assert job.wait(20) == 139
    report = vigil.why()
    assert report["victim"]["name"].startswith("python3"), report["victim"]
    assert report["summary"].startswith("python3") and "SIGSEGV" in report["summary"], report["summary"]


def test_a_job_that_waits_for_its_next_attempt_is_listed_as_waiting(vigil):
    script = "import sys\nfor i in range(9): print(f'step {i}/90', flush=True)\nsys.exit(3)"
    process = vigil.start("run", "--name", "again", "--retries", 1, "--retry-on", "any", "--backoff", "60s", "--",
                          sys.executable, "-c", script)
    wait_for(lambda: b"retry" in vigil("events", "again").out, 20, "the first attempt's end")
    job = wait_for(lambda: [j for j in map(json.loads, vigil("jobs", "--json").out.splitlines())], 5)[0]
    assert job["state"] == "waiting" and b"waiting" in vigil("jobs").out, job
    assert b"/s" not in vigil("jobs").out, "what does not run has no rate"
    assert b'vigil_jobs{state="waiting"} 1' in vigil("metrics").out
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) != 0


LAUNCHER = """
import os, subprocess, sys, time
ranks = [subprocess.Popen([sys.executable, "-c", "import time; kept = b'x' * (60 << 20); time.sleep(7)"],
                          env=dict(os.environ, RANK=str(r), LOCAL_RANK=str(r), WORLD_SIZE="2")) for r in range(2)]
time.sleep(2.5)
ranks[1].kill()
for r in ranks:
    r.wait()
"""


def test_who_is_not_waited_for_yet_has_ended(vigil):
    """A launcher that waits for rank 0 first leaves rank 1 a zombie: its end is when it died, and its memory what it had."""
    assert vigil("run", "--quiet", "--name", "zombie", "--", sys.executable, "-c", LAUNCHER, timeout=60).status == 0
    rows = [json.loads(line) for line in vigil("ps", "--all", "--json", "zombie").out.splitlines()]
    first, second = (next(r for r in rows if r.get("rank") == n) for n in range(2))
    lived_s = [(r["ended_unix_ms"] - r["started_unix_ms"]) / 1000 for r in (first, second)]
    assert lived_s[0] > 5 and 1 < lived_s[1] < 4.5, lived_s
    assert all(60 << 20 <= r["own_bytes"] < 90 << 20 for r in (first, second)), rows
