"""What a user, a disk, a kernel or a job may do wrong: a clear sentence, and nothing is lost."""
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from conftest import WORKLOADS, wait_for, workload
from guardkit import MIB, hog, job_ids, no_trace, nobodys_vigil  # noqa: F401

PYTHON = "/usr/bin/python3"


def one_sentence(result, *words):
    """A message to a person: short, from vigil, naming what was wrong."""
    assert result.text.startswith("vigil"), result
    assert len(result.text.splitlines()) <= 4, result
    for word in words:
        assert word in result.text, result
    assert "Traceback" not in result.text and "runtime error" not in result.text


@pytest.mark.parametrize("args, word", [
    (["--memory-limit", "lots"], "lots"),
    (["--memory-limit", "-5G"], "-5G"),
    (["--memory-limit", "99999999999999999999G"], "99999999999999999999G"),
    (["--memory-limit", "1.5.5G"], "1.5.5G"),
    (["--memory-limit", ""], "memory-limit"),
    (["--min-free", "12Q"], "12Q"),
    (["--memory-threshold", "1.5"], "1.5"),
    (["--memory-threshold", "-0.1"], "-0.1"),
    (["--memory-threshold", "nan"], "nan"),
    (["--memory-threshold", "inf"], "inf"),
    (["--policy", "oldest"], "oldest"),
    (["--grace", "soon"], "soon"),
    (["--retries", "-1"], "-1"),
    (["--retries", "99999999999"], "99999999999"),
    (["--retry-on", "sunday"], "sunday"),
    (["--nproc", "4000"], "4000"),
    (["--memory-treshold", "0.9"], "--memory-threshold"),
    (["--frobnicate"], "frobnicate"),
])
def test_an_impossible_option_is_answered_by_name_and_nothing_runs(vigil, tmp_path, args, word):
    mark = tmp_path / "ran"
    result = vigil("run", *args, "--", "touch", mark)
    assert result.status == 125, result
    one_sentence(result, word)
    assert not mark.exists()


@pytest.mark.parametrize("text, word", [
    ("run:\n  memory_treshold: 0.9\n", "memory_treshold"),
    ("run:\n  memory_threshold: 7\n", "memory_threshold"),
    ("run: [1, 2\n", ":2:1:"),
    ("\x00\x01\x02\xff", "vigil.yaml"),
    ("run:\n\tretries: 1\n", ":2:1:"),
])
def test_a_wrong_settings_file_is_named_with_its_place(vigil, tmp_path, text, word):
    folder = tmp_path / "config"
    (folder / "vigil").mkdir(parents=True)
    file = folder / "vigil/vigil.yaml"
    file.write_bytes(text.encode("latin-1"))
    result = vigil("run", "--", "true", env={"XDG_CONFIG_HOME": folder, "HOME": tmp_path})
    assert result.status == 125, result
    assert str(file) in result.text or "vigil.yaml" in result.text
    assert word in result.text, result


@pytest.mark.parametrize("command", ["why", "events", "logs", "show", "ps", "jobs"])
def test_questions_to_an_empty_folder_have_an_answer(vigil, command):
    result = vigil(command)
    assert result.status in (0, 1, 2, 4), result
    assert result.status == 0 or result.text.startswith("vigil"), result


@pytest.mark.parametrize("command", ["why", "events", "logs", "show"])
def test_a_job_that_does_not_exist_is_named(vigil, command):
    vigil("run", "--", "true")
    result = vigil(command, "no-such-job")
    assert result.status != 0
    one_sentence(result, "no-such-job")


@pytest.mark.parametrize("damage", ["garbage", "truncated", "empty", "a folder", "half a header"])
def test_a_damaged_store_never_stops_a_job(vigil, damage):
    assert vigil("run", "--", "true").status == 0
    store = next(vigil.state.glob("*.db"))
    whole = store.read_bytes()
    for extra in vigil.state.glob("*.db-*"):
        extra.unlink()
    if damage == "a folder":
        store.unlink()
        store.mkdir()
    else:
        store.write_bytes({"garbage": os.urandom(8192), "truncated": whole[:len(whole) // 2 + 7], "empty": b"",
                           "half a header": whole[:50]}[damage])
    result = vigil("run", "--", "echo", "fine")
    assert (result.status, result.out) == (0, b"fine\n"), result
    if damage == "truncated": # seen by whoever reads what is missing, mended by the next to write
        vigil("jobs")
        vigil("why")
        assert vigil("run", "--", "true").status == 0
    elif damage != "empty":
        assert result.text.startswith("vigil:"), result
    if damage != "a folder":
        assert damage in ("empty", "truncated") or list(vigil.state.glob("*damaged*")), "what was there is kept"
        assert vigil("run", "--name", "after", "--", "true").status == 0
        listed = vigil("jobs", "--json")
        assert listed.status == 0 and b'"after"' in listed.out, listed


@pytest.mark.parametrize("how", [[], ["-k"]], ids=["as-it-comes", "in-order"])
def test_output_of_tasks_that_a_full_disk_cuts_off_is_told_of(vigil, tiny_disk, how):
    room = tiny_disk(64)
    result = vigil("map", *how, "-j2", "sh", "-c", "head -c 300000 /dev/zero; true", ":::", "1", "2", env={"TMPDIR": room})
    assert result.status == 0 and len(result.out) < 300000, result
    assert result.text.count("the disk is full") == 1, result
    plain = vigil("map", *how, "echo", ":::", "1", env={"TMPDIR": room})
    assert plain.out == b"1\n" and plain.err == b"", plain


def test_a_disk_that_fills_up_in_the_middle_of_a_run_does_not_harm_the_job(vigil, tiny_disk, tmp_path):
    vigil.state = tiny_disk(4096)
    go = tmp_path / "go"
    code = ("import os, sys, time\nprint('ready', flush=True)\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.01)\n"
            "for n in range(20000): print('line', n)\nsys.exit(7)")
    process = vigil.start("run", "--", PYTHON, "-c", code, go)
    wait_for(lambda: process.stdout.readline() == b"ready\n", 20)
    wait_for(lambda: list(vigil.state.glob("*.db")), 20, "the store")
    ballast = os.open(vigil.state / "ballast", os.O_WRONLY | os.O_CREAT)
    with pytest.raises(OSError):
        while True:
            os.write(ballast, b"x" * 4096)
    os.close(ballast)
    go.touch()
    result = vigil.finish(process, 60)
    assert result.status == 7, result.text[-2000:]
    assert result.out.count(b"\n") == 20000, "every line came through"
    assert "o space" in result.text, "it is said"


def test_the_report_of_a_kill_is_shown_even_if_it_cannot_be_stored(vigil, tiny_disk):
    vigil.state = tiny_disk(16)
    result = vigil("run", "--memory-limit", "96M", "--", *workload("hog", 400, "--rate", 200))
    assert result.status == 137, result
    assert "hog.py" in result.text and "0.95" in result.text


def test_without_any_right_the_guard_still_works_and_says_what_it_lacks(nobodys_vigil, as_nobody):
    """No /dev/kmsg, no BPF, no control group, no lowering of oom_score_adj."""
    if not as_nobody:
        pytest.skip("needs root to become nobody")
    v = nobodys_vigil
    result = v("doctor", prefix=as_nobody, cwd=v.folder)
    assert result.status in (0, 1, 2), result
    assert len(result.out) > 100
    result = v("run", "--memory-limit", "96M", "--", sys.executable, str(v.folder / "workloads/hog.py"), "400", "--rate", "100",
               prefix=as_nobody, cwd=v.folder)
    assert result.status == 137, result
    assert v.why()["killer"] == "vigil"


def test_where_processes_of_others_are_hidden_the_guard_works_on(nobodys_vigil, as_nobody):
    if not as_nobody:
        pytest.skip("needs root to become nobody")
    v = nobodys_vigil
    hidden = ["unshare", "-m", "--", "/bin/sh", "-c", 'mount -t proc -o hidepid=2 proc /proc && exec "$@"', "-", *as_nobody]
    probe = subprocess.run([*hidden, "true"], capture_output=True, text=True)
    if probe.returncode:
        pytest.skip(f"cannot mount another /proc: {probe.stderr.strip()}")
    result = v("run", "--memory-limit", "96M", "--", sys.executable, str(v.folder / "workloads/hog.py"), "400", "--rate", "100",
               prefix=hidden, cwd=v.folder)
    assert result.status == 137, result
    report = v.why()
    assert (report["kind"], report["killer"]) == ("memory_kill", "vigil")
    assert v("ps", prefix=hidden, cwd=v.folder).status == 0
    assert v("mem", prefix=hidden, cwd=v.folder).status == 0


def test_without_proc_there_is_one_clear_sentence(vigil, as_nobody):
    """Where not even root of the pid namespace may make one of its own."""
    if os.geteuid() != 0:
        pytest.skip("needs root to hide /proc")
    hidden = ["unshare", "-m", "--", "/bin/sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "-"]
    probe = subprocess.run([*hidden, "true"], capture_output=True, text=True)
    if probe.returncode:
        pytest.skip(f"cannot cover /proc: {probe.stderr.strip()}")
    result = vigil("run", "--", "/bin/sh", "-c", "echo fine", prefix=hidden, timeout=30)
    assert (result.status, result.out) == (0, b"fine\n") or b"mount -t proc" in result.err, result
    os.chmod(vigil.state, 0o777)
    if subprocess.run([*as_nobody, vigil.binary, "version"], capture_output=True).returncode == 0:
        result = vigil("run", "--", "/bin/sh", "-c", "echo fine", prefix=[*hidden, *as_nobody], timeout=30)
        assert result.status == 125 and b"mount -t proc" in result.err and len(result.err.splitlines()) == 1, result


@pytest.fixture
def absurd(tmp_path):
    """Words that give a program a meminfo in which more swap is free than there is, by an underflow of the kernel's."""
    if os.geteuid() != 0:
        pytest.skip("needs root to cover /proc/meminfo")
    lines = [line for line in open("/proc/meminfo") if not line.startswith("SwapFree:")]
    path = tmp_path / "meminfo"
    path.write_text("".join(lines) + "SwapFree:       18446744073709551612 kB\n")
    words = ["unshare", "-m", "--", "/bin/sh", "-c", f'mount --bind {path} /proc/meminfo && exec "$@"', "-"]
    probe = subprocess.run([*words, "true"], capture_output=True, text=True)
    if probe.returncode:
        pytest.skip(f"cannot cover /proc/meminfo: {probe.stderr.strip()}")
    return words


def test_absurd_numbers_are_said_and_the_job_is_guarded_on(vigil, absurd):
    """earlyoom gives up when it reads them."""
    result = vigil("run", "--retries", "0", "--memory-limit", "96M", "--grace", "0", "--", PYTHON, "-c",
                   "import time\ntime.sleep(2)\nx = []\nwhile True: x.append(bytearray(1 << 20))", prefix=absurd, timeout=60)
    assert result.status == 137, result
    assert result.text.count("the kernel's memory numbers cannot be true") == 1, result
    events = [json.loads(line) for line in vigil("events", "--json").out.splitlines()]
    assert [e["kind"] for e in events].count("absurd_numbers") == 1, events
    report = vigil.why()
    assert report["kind"] == "memory_kill" and any("absurd" in e["text"] for e in report["evidence"]), report


def test_a_watch_says_so_too(vigil, absurd):
    job = subprocess.Popen(["sleep", "60"])
    try:
        p = vigil.start("watch", "--pid", job.pid, prefix=absurd)
        wait_for(lambda: b"absurd_numbers" in vigil("events", "--json").out, 20, "the event")
        p.terminate()
        assert "the kernel's memory numbers cannot be true" in vigil.finish(p, 20).text
    finally:
        job.kill()
        job.wait()


def test_a_hundred_megabytes_of_output_come_through_whole(vigil, tmp_path):
    code = "import sys\nb = bytes(range(256)) * 4096\nfor _ in range(100): sys.stdout.buffer.write(b)"
    with open(tmp_path / "out", "wb") as out:
        process = vigil.start("run", "--", PYTHON, "-c", code, stdout=out)
        result = vigil.finish(process, 120)
    assert result.status == 0, result
    assert (tmp_path / "out").stat().st_size == 100 * MIB
    assert vigil.log().stat().st_size <= 100 * MIB
    peak = vigil("jobs", "--json").json().get("peak_bytes", 0)
    assert peak < 200 * MIB, "vigil does not hold it in memory"


def test_garbage_on_both_outputs_is_passed_on_and_harms_no_report(vigil):
    code = ("import os, sys\nb = bytes((n * 7919) % 256 for n in range(200000))\n"
            "os.write(1, b); os.write(2, b'\\x1b[2J\\xff\\xfe\\0CUDA out of memory\\0' * 50)\nsys.exit(3)")
    result = vigil("run", "--", PYTHON, "-c", code)
    assert result.status == 3, result
    assert result.out == bytes((n * 7919) % 256 for n in range(200000))[:len(result.out)]
    assert len(result.out) == 200000 or result.out
    report = vigil.why()
    assert report["victim"]["exit_code"] == 3
    text = vigil("why").out
    assert b"\x1b[2J" not in text and b"\0" not in text, "the report moves no cursor"


def test_closed_output_does_not_disturb_the_guard(vigil):
    process = vigil.start("run", "--memory-limit", "96M", "--", *workload("hog", 400, "--rate", 200))
    process.stdout.close()
    process.stderr.close()
    assert process.wait(60) == 137
    process.stdout = process.stderr = None
    assert vigil.why()["kind"] == "memory_kill"


def test_a_reader_that_sleeps_does_not_delay_the_guard(vigil, small_machine):
    """The terminal or pipe is full and nobody reads: the job blocks, the guard must not."""
    box = small_machine(256)
    code = ("import os, threading, runpy, sys\n"
            "threading.Thread(target=lambda: os.write(1, b'x' * (1 << 24)), daemon=True).start()\n"
            "sys.argv = ['hog.py', '2000', '--rate', '300']; runpy.run_path(%r, run_name='__main__')" % workload("hog")[2])
    process = vigil.start("run", "--", PYTHON, "-c", code, box=box)
    hogs = lambda: [p for p in box.pids() if b"hog.py" in pathlib.Path(f"/proc/{p}/cmdline").read_bytes()
                    and p != process.pid] if process.poll() is None else []
    wait_for(lambda: len(box.pids()) >= 3, 20)

    def hog_gone():
        for pid in box.pids():
            try:
                if b"runpy" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes() and \
                        "python" in pathlib.Path(f"/proc/{pid}/comm").read_text():
                    return False
            except OSError:
                pass
        return True
    wait_for(hog_gone, 30, "the hog to be ended though nobody reads")
    assert box.kernel_kills() == 0
    result = vigil.finish(process, 60)
    assert result.status == 137, result


def test_a_run_in_a_terminal_that_is_killed_for_memory_leaves_the_terminal_as_it_was(vigil):
    import termios
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    process = vigil.start("run", "--memory-limit", "96M", "--", *workload("hog", 400, "--rate", 200), stdin=theirs,
                          stdout=theirs, stderr=theirs)
    seen, end = b"", time.monotonic() + 60
    while time.monotonic() < end:
        readable, _, _ = select.select([ours], [], [], 0.1)
        if readable:
            seen += os.read(ours, 65536)
        elif process.poll() is not None:
            break
    assert process.wait(10) == 137, seen
    assert termios.tcgetattr(theirs) == before
    assert b"0.95" in seen
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize("command", (["waits"], ["stack"], ["flame", "-d", "1", "-o", "f.json"]), ids=lambda c: c[0])
def test_a_dumb_terminal_gets_lines_and_nothing_else(vigil, tmp_path, command):
    ours, theirs = pty.openpty()
    with subprocess.Popen(["sleep", "60"]) as looked_at:
        process = vigil.start(command[0], looked_at.pid, *command[1:], stdin=theirs, stdout=theirs, stderr=theirs,
                              cwd=tmp_path, env=dict(os.environ, TERM="dumb"))
        os.close(theirs)
        seen = b""
        try:
            while readable := os.read(ours, 65536):
                seen += readable
        except OSError: # its other end is closed
            pass
        process.wait(30)
        looked_at.kill()
    os.close(ours)
    assert seen and b"\x1b" not in seen and b"\r" not in seen.replace(b"\r\n", b""), seen


def test_a_command_with_a_newline_and_control_bytes_in_its_name_is_told_safely(vigil, tmp_path):
    evil = tmp_path / "tr\nain\x1b[31m.py"
    evil.write_text("import sys; sys.exit(9)")
    result = vigil("run", "--", PYTHON, evil)
    assert result.status == 9
    for command in (["jobs"], ["why"], ["show"], ["events"]):
        shown = vigil(*command)
        assert b"\x1b[31m" not in shown.out, command
    for line in vigil("jobs", "--json").out.splitlines():
        json.loads(line)


# Waits for a lock on a file whose name begins an escape (U+009B, as ESC [ does) and turns the direction of writing.
LOCKS_TWICE = """
import fcntl, os, sys, threading
name = os.path.join(sys.argv[1], "x\\x9b31m\\u202egnp")
held, wanted = open(name, "w"), open(name, "w")
fcntl.flock(held, fcntl.LOCK_EX)
print("begun", flush=True)
fcntl.flock(wanted, fcntl.LOCK_EX)
"""


def test_names_of_files_that_control_a_terminal_are_told_safely(vigil, begin, tmp_path):
    process = begin("/usr/bin/python3", "-c", LOCKS_TWICE, tmp_path)
    for command in (["stack"], ["waits", "--all"]):
        shown = wait_for(lambda c=command: b"31m" in (r := vigil(*c, process.pid)).out and r, what="the lock")
        for control in ("\x9b", "\u202e", "\x1b"):
            assert control.encode() not in shown.out, (command, shown)


def test_every_mistake_of_a_settings_file_is_told_at_once(vigil, tmp_path):
    file = tmp_path / "vigil.yaml"
    file.write_text("memory_treshold: 0.9\nrun:\n  retries: many\n  grace: 5s\nnotify:\n  - name: a\n")
    result = vigil("config", "check", file)
    assert result.status == 1
    said = result.text.splitlines()
    assert [f"{file}:{at}:" in line for at, line in zip(("1:1", "3:3", "6:5"), said, strict=True)] == [True] * 3, result


def test_a_switch_of_ray_that_is_no_number_is_told_and_passed_over(vigil):
    result = vigil("run", "--", "true", env={"RAY_memory_monitor_refresh_ms": "abc"})
    assert result.status == 0 and "RAY_memory_monitor_refresh_ms=abc" in result.text
    assert "RAY" not in vigil("run", "--", "true", env={"RAY_memory_monitor_refresh_ms": "250"}).text
    off = vigil("run", "--", "true", env={"RAY_memory_monitor_refresh_ms": "0"})
    assert off.status == 0 and "RAY_memory_monitor_refresh_ms=0 switches the guard off" in off.text


def test_who_has_no_home_is_served_all_the_same(vigil, as_nobody):
    """As users are whose number a container made up. What somebody else has put there is not written to."""
    if not as_nobody:
        pytest.skip("changing to another user needs root")
    folder = pathlib.Path("/tmp/vigil-65534")
    shutil.rmtree(folder, ignore_errors=True)

    def run(*args):
        command = ["env", "-i", "PATH=/usr/bin:/bin", *as_nobody, vigil.binary, *args]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd="/")

    try:
        assert run("run", "--quiet", "--", "false").returncode == 1
        assert (folder.stat().st_uid, folder.stat().st_mode & 0o777) == (65534, 0o700)
        assert "false" in run("why").stdout
        shutil.rmtree(folder)
        folder.mkdir()
        refused = run("run", "--", "true")
        assert refused.returncode == 125 and str(folder) in refused.stderr and "--state" in refused.stderr
        assert not list(folder.iterdir())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_a_store_of_a_newer_vigil_is_told_once_whatever_jobs_were_left(vigil, tmp_path):
    """The copied state looks as if all of vigil had been killed at once."""
    job = vigil.start("run", "--", "sleep", "600")
    wait_for(lambda: b"sleep" in vigil("jobs").out, 30, "the job")
    left = tmp_path / "left"
    shutil.copytree(vigil.state, left, ignore=lambda _, names: [n for n in names if n == "live"])
    with sqlite3.connect(left / "vigil.db") as db:
        db.execute("PRAGMA user_version=1000")
    for command in ("jobs", "why"):
        result = vigil(command, env={"VIGIL_STATE_DIR": left})
        assert result.status != 0 and result.err.count(b"newer vigil") == 1, result
        assert b"the job goes on" not in result.err, result
    job.terminate()
    job.wait(30)
