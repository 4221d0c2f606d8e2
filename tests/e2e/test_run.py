"""`vigil run`: the job is left as it is: its status, its output, its input, its signals, its terminal."""
import fcntl
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

import psutil
import pytest

from conftest import WORKLOADS, wait_for, workload

sys.path.insert(0, str(WORKLOADS))
import writer  # noqa: E402


def ready(process, word=b"ready"):
    """The job's line that says it is where it wants to be."""
    def look():
        readable, _, _ = select.select([process.stdout], [], [], 0.1)
        return process.stdout.readline() if readable else None
    end = time.monotonic() + 20
    while time.monotonic() < end:
        line = look()
        if line is not None:
            assert line, f"ended without '{word.decode()}': {process.stderr.read()!r}"
            if word in line:
                return line
    pytest.fail(f"no '{word.decode()}' within 20 s")


# --- exit status

@pytest.mark.parametrize("status", [0, 1, 3, 124, 125, 255])
def test_the_jobs_own_exit_status_is_passed_on(vigil, status):
    assert vigil("run", "--", *workload("crash", "exit", status)).status == status


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGKILL, signal.SIGUSR1, signal.SIGTERM])
def test_a_signal_becomes_128_plus_its_number(vigil, number):
    result = vigil("run", "--", *workload("crash", "signal", int(number)))
    assert result.status == 128 + number, result


@pytest.mark.parametrize("how, number", [("segv", signal.SIGSEGV), ("abort", signal.SIGABRT)])
def test_a_crash_is_passed_on_and_reported(vigil, how, number):
    assert vigil("run", "--", *workload("crash", how)).status == 128 + number
    report = vigil.why()
    assert report["kind"] == "crash"
    assert report["victim"]["signal"] == number


def test_a_bus_error_on_a_full_disk_is_passed_on_and_reported(vigil, tiny_disk):
    file = tiny_disk(256) / "batch"
    assert vigil("run", "--", *workload("crash", "bus", file)).status == 128 + signal.SIGBUS
    assert vigil.why()["victim"]["signal"] == signal.SIGBUS


def test_an_error_exit_is_reported_with_its_code(vigil):
    assert vigil("run", "--", *workload("crash", "exit", 3)).status == 3
    report = vigil.why()
    assert (report["kind"], report["victim"]["exit_code"]) == ("error_exit", 3)


def test_a_program_that_is_not_there_gives_127(vigil):
    result = vigil("run", "--", "no-such-program-at-all")
    assert result.status == 127, result
    assert "no-such-program-at-all" in result.text
    report = vigil("why").out.decode()
    assert "process           exit status 127" in report and "killed by" not in report, report


def test_a_file_that_is_no_program_gives_126(vigil, tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("not a program")
    result = vigil("run", "--", file)
    assert result.status == 126, result
    assert str(file) in result.text


@pytest.mark.parametrize("args, named", [
    (["--no-such-option", "--", "true"], "no-such-option"),
    (["--memory-threshold", "1.7", "--", "true"], "1.7"),
    (["--memory-threshold", "most", "--", "true"], "most"),
    (["--memory-limit", "12 parsecs", "--", "true"], "12 parsecs"),
    (["--nproc", "0", "--", "true"], "nproc"),
    (["--nproc", "many", "--", "true"], "many"),
    (["--retries", "-1", "--", "true"], "retries"),
    (["--policy", "unluckiest", "--", "true"], "unluckiest"),
    (["--retry-on", "sundays", "--", "true"], "sundays"),
    (["--memory-limit"], "memory-limit"),
    ([], "ommand"),
])
def test_a_wrong_call_gives_125_and_one_clear_sentence(vigil, args, named):
    result = vigil("run", *args)
    assert result.status == 125, result
    assert named in result.text
    assert result.out == b""
    assert not list(vigil.state.glob("jobs/*")), "a wrong call leaves no job behind"


def test_a_mistyped_option_is_answered_with_the_right_one(vigil):
    assert "--memory-limit" in vigil("run", "--memory-limt", "1G", "--", "true").text


def test_a_wrong_value_in_the_environment_is_named(vigil):
    result = vigil("run", "--", "true", env={"VIGIL_RETRIES": "several"})
    assert result.status == 125, result
    assert "VIGIL_RETRIES" in result.text


def test_options_end_at_the_first_word_and_at_two_dashes(vigil):
    for args in (["run", "echo", "--name", "x"], ["run", "--", "echo", "--name", "x"]):
        result = vigil(*args)
        assert (result.status, result.out) == (0, b"--name x\n"), result


# --- output and input

def test_output_is_passed_on_byte_for_byte_and_kept(vigil):
    result = vigil("run", "--quiet", "--", *workload("writer", 10), timeout=120)
    assert result.status == 0
    assert result.out == writer.data(10, 1)
    assert result.err == writer.data(10, 2)
    assert vigil.log(stream="out").read_bytes() == result.out
    assert vigil.log(stream="err").read_bytes() == result.err


def test_output_without_a_newline_at_the_end_is_not_lost(vigil):
    result = vigil("run", "--", "printf", "half a line")
    assert result.out == b"half a line"
    assert vigil.log().read_bytes() == b"half a line"


def test_output_comes_while_the_job_runs(vigil):
    process = vigil.start("run", "--", *workload("sleeper"))
    ready(process)
    assert process.poll() is None
    wait_for(lambda: b"ready" in vigil.log().read_bytes(), 10, "the kept copy")


def test_input_is_passed_on(vigil):
    result = vigil("run", "--", "cat", input=b"from outside\0\xff\n")
    assert (result.status, result.out) == (0, b"from outside\0\xff\n"), result


def test_a_reader_that_goes_away_ends_the_job_as_without_vigil(vigil):
    process = vigil.start("run", "--", "yes", stderr=subprocess.DEVNULL)
    assert process.stdout.read(2) == b"y\n"
    process.stdout.close()
    process.stdout = None
    assert process.wait(20) == 128 + signal.SIGPIPE


def test_everything_closed_is_no_reason_to_fail(vigil):
    script = 'exec "$0" run -- true <&- >&- 2>&-'
    done = subprocess.run(["sh", "-c", script, vigil.binary], env=vigil.environment(), timeout=30)
    assert done.returncode == 0


def test_a_terminal_stays_a_terminal(vigil):
    check = "import os, sys; print([os.isatty(fd) for fd in (0, 1, 2)], os.get_terminal_size().columns)"
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 133, 0, 0))
    try:
        process = vigil.start("run", "--", sys.executable, "-c", check, stdin=child, stdout=child, stderr=child)
        os.close(child)
        seen = b""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if select.select([parent], [], [], 0.1)[0]:
                try:
                    seen += os.read(parent, 4096)
                except OSError:  # the other side is closed
                    break
            elif process.poll() is not None:
                break
        assert process.wait(20) == 0, seen
    finally:
        os.close(parent)
    assert b"[True, True, True] 133" in seen
    assert b"[True, True, True] 133" in vigil.log().read_bytes()


def test_the_job_runs_where_and_with_what_vigil_was_started(vigil, tmp_path):
    code = "import os; print(os.getcwd(), os.environ['MINE'], os.environ.get('LD_PRELOAD'))"
    result = vigil("run", "--", sys.executable, "-c", code, env={"MINE": "a=b"}, cwd=tmp_path)
    assert result.out.decode() == f"{tmp_path} a=b None\n"


def test_no_descriptor_of_vigil_reaches_the_job(vigil):
    result = vigil("run", "--", "ls", "/proc/self/fd")
    # ls itself has the folder open as 3
    assert result.out.split() == [b"0", b"1", b"2", b"3"], result


def huge_pages(text):
    """Of the job and of the vigil that started it: whether the kernel may make huge pages of their memory."""
    return [line.split()[1] for line in text.decode().splitlines()]


@pytest.mark.parametrize("command", [["run", "--"], ["map", "-j1"]], ids=["run", "map"])
def test_huge_pages_are_the_jobs_and_not_vigils(vigil, command):
    # a map has them for the moment in which a task begins: the new program inherits from the memory of who executes it
    vigils = 'while grep -q "THP_enabled:.1" /proc/$PPID/status && [ $((n += 1)) -lt 2000 ]; do sleep 0.01; done'
    look = ["sh", "-c", f"grep THP_enabled /proc/self/status; {vigils}; grep THP_enabled /proc/$PPID/status"]
    inputs = [":::", "x"] if command[0] == "map" else []
    assert huge_pages(vigil(*command, *look, *inputs).out) == ["1", "0"]
    off = (sys.executable, "-c", "import ctypes, os, sys; ctypes.CDLL(None).prctl(41, 1, 0, 0, 0); os.execvp(sys.argv[1], sys.argv[1:])")
    assert huge_pages(vigil(*command, *look, *inputs, prefix=off).out) == ["0", "0"]


# --- signals

@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_vigil_reaches_the_job_which_ends_as_it_likes(vigil, number):
    process = vigil.start("run", "--", *workload("term_handler", 5))
    ready(process)
    process.send_signal(number)
    result = vigil.finish(process, 30)
    assert result.status == 5, result
    assert f"caught {number.name}".encode() in result.out


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_vigil_ends_a_job_that_does_not_care(vigil, number):
    # no Python: a SIGINT right before its sleep begins is noticed only when that is over
    process = vigil.start("run", "--", "sh", "-c", "echo ready $$; exec sleep 60")
    pid = int(ready(process).split()[1])
    process.send_signal(number)
    result = vigil.finish(process, 30)
    assert result.status == 128 + number, result
    assert not psutil.pid_exists(pid)


def test_a_stop_is_not_retried(vigil, tmp_path):
    process = vigil.start("run", "--retries", "3", "--retry-on", "any", "--", *workload("ranks", tmp_path, "--wait"))
    wait_for(lambda: (tmp_path / "rank-0-attempt-0.json").exists())
    process.send_signal(signal.SIGTERM)
    assert vigil.finish(process, 30).status == 128 + signal.SIGTERM
    assert not (tmp_path / "rank-0-attempt-1.json").exists()


def test_ctrl_c_at_a_terminal_reaches_the_job_once(vigil, tmp_path):
    """The terminal signals the whole foreground group; a job that counts must count one."""
    parent, child = pty.openpty()
    helper = ("import os, sys, fcntl, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
              "os.execv(sys.argv[1], sys.argv[1:])")
    process = vigil.start("-c", helper, vigil.binary, "run", "--", *workload("term_ignorer", 2), binary=sys.executable,
                          stdin=child, stdout=child, stderr=child, start_new_session=False)
    os.close(child)
    seen = b""
    sent = False
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if select.select([parent], [], [], 0.1)[0]:
            try:
                seen += os.read(parent, 4096)
            except OSError:
                break
        if b"ready" in seen and not sent:
            os.write(parent, b"\x03")
            sent = True
        if process.poll() is not None:
            break
    os.close(parent)
    assert process.wait(20) == 1, seen


# --- ranks

def said(folder, rank, attempt=0):
    return json.loads((folder / f"rank-{rank}-attempt-{attempt}.json").read_text())


def test_ranks_are_told_who_they_are(vigil, tmp_path):
    result = vigil("run", "--nproc", "3", "--", *workload("ranks", tmp_path))
    assert result.status == 0, result
    ranks = [said(tmp_path, n) for n in range(3)]
    for n, rank in enumerate(ranks):
        assert (rank["RANK"], rank["LOCAL_RANK"]) == (str(n), str(n))
        assert (rank["WORLD_SIZE"], rank["LOCAL_WORLD_SIZE"]) == ("3", "3")
        assert rank["RESTART_COUNT"] == "0"
        assert rank["MASTER_ADDR"]
        assert 0 < int(rank["MASTER_PORT"]) < 65536
    assert len({(r["MASTER_ADDR"], r["MASTER_PORT"]) for r in ranks}) == 1
    for n in range(3):
        assert vigil.log(n).read_bytes() == f"rank {n} speaks\n".encode()
    assert sorted(result.out.splitlines()) == [f"rank {n} speaks".encode() for n in range(3)]


@pytest.mark.parametrize("how, status", [(["--fail", "1:7"], 7), (["--fail", "2:1"], 1), (["--kill", "1:11"], 139), (["--kill", "0:9"], 137)])
def test_one_rank_failing_ends_the_rest_and_gives_its_status(vigil, tmp_path, how, status):
    result = vigil("run", "--nproc", "3", "--", *workload("ranks", tmp_path, *how), timeout=45)
    assert result.status == status, result
    for n in range(3):
        assert not psutil.pid_exists(said(tmp_path, n)["pid"])
    report = vigil.why()
    failed = int(how[1].split(":")[0])
    assert report["victim"]["rank"] == failed, "the rank that failed first, not those ended with it"
    if report["kind"] != "killed_by":
        assert report.get("culprit_ranks") == [failed], report
    assert not any("by another process of the job" in e["text"] for e in report["evidence"]), "vigil ended the others"


def test_an_address_that_is_set_already_is_kept(vigil, tmp_path):
    env = {"MASTER_ADDR": "10.1.2.3", "MASTER_PORT": "4567"}
    assert vigil("run", "--nproc", "2", "--", *workload("ranks", tmp_path), env=env).status == 0
    assert (said(tmp_path, 1)["MASTER_ADDR"], said(tmp_path, 1)["MASTER_PORT"]) == ("10.1.2.3", "4567")


# --- retries

def starts(folder):
    return [(folder / f"start-{n}").read_text() for n in range(len(list(folder.glob("start-*"))))]


def test_without_retries_a_job_is_started_once(vigil, tmp_path):
    assert vigil("run", "--retry-on", "any", "--", *workload("flaky", tmp_path, 1, "exit", 4)).status == 4
    assert len(starts(tmp_path)) == 1


def test_a_retry_on_anything_goes_on_until_the_job_is_fine(vigil, tmp_path):
    result = vigil("run", "--retries", "3", "--retry-on", "any", "--backoff", "10ms", "--",
                   *workload("flaky", tmp_path, 2, "exit", 4))
    assert result.status == 0, result
    assert starts(tmp_path) == ["0", "1", "2"]


def test_retries_that_run_out_give_the_jobs_status(vigil, tmp_path):
    result = vigil("run", "--retries", "2", "--retry-on", "any", "--backoff", "10ms", "--",
                   *workload("flaky", tmp_path, 9, "exit", 4))
    assert result.status == 4, result
    assert starts(tmp_path) == ["0", "1", "2"]


def test_an_error_exit_is_no_reason_to_retry_by_default(vigil, tmp_path):
    assert vigil("run", "--retries", "3", "--", *workload("flaky", tmp_path, 1, "exit", 4)).status == 4
    assert len(starts(tmp_path)) == 1


def test_retry_on_crash_retries_a_crash(vigil, tmp_path):
    result = vigil("run", "--retries", "1", "--retry-on", "crash", "--backoff", "10ms", "--",
                   *workload("flaky", tmp_path, 1, "segv"))
    assert result.status == 0, result
    assert len(starts(tmp_path)) == 2


def test_a_retry_restarts_all_ranks_and_keeps_the_logs_of_each_attempt(vigil, tmp_path):
    result = vigil("run", "--nproc", "2", "--retries", "1", "--retry-on", "any", "--backoff", "10ms", "--",
                   *workload("ranks", tmp_path, "--fail", "1:5", "--first-attempt-only"), timeout=45)
    assert result.status == 0, result
    for attempt in (0, 1):
        for rank in (0, 1):
            assert said(tmp_path, rank, attempt)["RESTART_COUNT"] == str(attempt)
            assert b"speaks" in vigil.log(rank, attempt=attempt).read_bytes()


def test_options_come_from_the_environment_and_flags_win(vigil, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir(), two.mkdir()
    env = {"VIGIL_RETRIES": "1", "VIGIL_RETRY_ON": "any", "VIGIL_BACKOFF": "10ms"}
    assert vigil("run", "--", *workload("flaky", one, 1, "exit", 4), env=env).status == 0
    assert vigil("run", "--retries", "0", "--", *workload("flaky", two, 1, "exit", 4), env=env).status == 4


# --- the state folder

def test_a_full_disk_does_not_harm_the_job(vigil, tiny_disk):
    vigil.state = tiny_disk(64)
    result = vigil("run", "--", *workload("writer", 2), timeout=60)
    assert result.status == 0, result.err[-2000:]
    assert result.out == writer.data(2, 1)
    assert str(vigil.state).encode() in result.err, "it is said that the disk is full, and which"


def test_a_state_folder_that_cannot_be_is_said_and_the_job_runs(vigil, tmp_path):
    (tmp_path / "file").write_text("in the way")
    vigil.state = tmp_path / "file/state"
    result = vigil("run", "--", "echo", "fine")
    assert (result.status, result.out) == (0, b"fine\n"), result
    assert str(vigil.state) in result.text


def test_a_damaged_store_is_moved_aside_and_said(vigil):
    assert vigil("run", "--", "true").status == 0
    stores = list(vigil.state.glob("*.db"))
    assert len(stores) == 1
    for extra in vigil.state.glob("*.db-*"):
        extra.unlink()
    stores[0].write_bytes(b"this is no database " * 500)
    result = vigil("run", "--", "true")
    assert result.status == 0, result
    assert "damaged" in result.text
    kept = [p for p in vigil.state.glob("*damaged*") if p.read_bytes().startswith(b"this is no database")]
    assert kept, "what was there is kept"
    jobs = vigil("jobs", "--json")
    assert jobs.status == 0 and b"vigil.job/1" in jobs.out


@pytest.fixture
def nobodys_vigil(vigil, as_nobody):
    """The binary, the workloads and a state folder where somebody without rights can reach them."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="vigil-nobody-"))
    folder.chmod(0o755)
    shutil.copy(vigil.binary, folder / "vigil")
    shutil.copytree(WORKLOADS, folder / "workloads", ignore=shutil.ignore_patterns("__pycache__"))
    vigil.state = folder / "state"
    vigil.state.mkdir()
    if as_nobody:
        os.chown(vigil.state, 65534, 65534)
    vigil.binary = folder / "vigil"
    vigil.folder = folder
    yield vigil
    vigil.end()
    shutil.rmtree(folder)


def test_nothing_needs_root(nobodys_vigil, as_nobody):
    vigil = nobodys_vigil
    hog = [sys.executable, str(vigil.folder / "workloads/hog.py"), "400", "--rate", "100"]
    result = vigil("run", "--memory-limit", "96M", "--", *hog, prefix=as_nobody, cwd=vigil.folder)
    assert result.status == 137, result
    report = vigil.why()
    assert (report["kind"], report["killer"]) == ("memory_kill", "vigil")


def test_an_unreadable_state_folder_is_said_and_the_job_runs(nobodys_vigil, as_nobody):
    if not as_nobody:
        pytest.skip("only root can hand the test to somebody with fewer rights")
    vigil = nobodys_vigil
    os.chown(vigil.state, 0, 0)
    vigil.state.chmod(0o700)
    result = vigil("run", "--", "echo", "fine", prefix=as_nobody, cwd=vigil.folder)
    assert (result.status, result.out) == (0, b"fine\n"), result
    assert str(vigil.state) in result.text


def test_two_vigils_at_once_do_not_disturb_each_other(vigil):
    both = [vigil.start("run", "--name", f"job-{n}", "--", *workload("sleeper")) for n in range(2)]
    for process in both:
        ready(process)
    listed = vigil("jobs", "--json")
    assert listed.status == 0, listed
    text = listed.out.decode()
    assert "job-0" in text and "job-1" in text
    assert len(list(vigil.state.glob("jobs/*"))) == 2
    for process in both:
        process.send_signal(signal.SIGTERM)
    for process in both:
        assert vigil.finish(process, 30).status == 128 + signal.SIGTERM


def test_twenty_jobs_one_after_the_other_have_twenty_names(vigil):
    for _ in range(20):
        assert vigil("run", "--name", "same", "--", "true").status == 0
    assert len(list(vigil.state.glob("jobs/*"))) == 20


def test_a_core_is_told_with_its_place(vigil, tmp_path):
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
    if pattern.startswith("|"):
        pytest.skip(f"cores are handed to a program here: {pattern}")
    command = f"cd {tmp_path} && ulimit -c unlimited && exec {vigil.binary} run -- /usr/bin/python3 -c 'import os; os.abort()'"
    done = subprocess.run(["sh", "-c", command], env=vigil.environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == 128 + signal.SIGABRT, done
    report = vigil.why()
    assert report["kind"] == "crash"
    cores = [p for p in tmp_path.iterdir() if p.name.startswith("core")]
    if not cores:
        pytest.skip(f"the kernel wrote no core here (core_pattern is {pattern})")
    assert any(str(cores[0]) in advice for advice in report["cause"]["advice"]), report
