"""The commands that read: jobs, ps, show, events, logs, why. Most stores here are filled by tests/tool/storetool."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import psutil
import pytest

from conftest import ROOT, wait_for
from guardkit import nobodys_vigil  # noqa: F401 (a fixture)

BOOT = int(psutil.boot_time() * 1000)
NOW = int(time.time() * 1000)
HERE = os.uname().nodename


def ticks(pid):
    """Start time in clock ticks since boot, field 22 of stat."""
    text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    return int(text.rpartition(")")[2].split()[19])


@pytest.fixture
def fill(vigil, binary):
    """fill({...}, {...}) puts rows into the store."""
    tool = binary.parents[2] / "tests/tool/storetool"
    if not tool.exists():
        tool = ROOT / "build/tests/tool/storetool"
    assert tool.exists(), f"{tool} is not built"

    def put(*rows):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        subprocess.run([tool, vigil.state], input=text, text=True, check=True, timeout=20)
    return put


def job(id, **fields):
    base = {"put": "job", "id": id, "name": id.split("-")[0], "command": "python3 train.py", "node": HERE, "nproc": 1,
            "state": "done", "started_unix_ms": NOW - 60_000, "ended_unix_ms": NOW - 30_000, "exit_status": 0}
    base.update(fields)
    return {k: v for k, v in base.items() if v is not None}


def running(id, supervisor, **fields):
    return job(id, **{"state": "running", "ended_unix_ms": None, "exit_status": None, "supervisor_pid": supervisor.pid,
                      "supervisor_start_ticks": ticks(supervisor.pid), **fields})


def incident(id, job, **fields):
    report = {"schema": "vigil.incident/1", "id": id, "job": job, "attempt": 0, "kind": "crash",
              "time_unix_ms": NOW - 40_000, "summary": f"Something happened to {job}.",
              "victim": {"pid": 4242, "signal": 11}, "killer": "none"}
    report.update(fields)
    return {"put": "incident", "report": report}


def event(job, kind, text="", **fields):
    return {"put": "event", "job": job, "kind": kind, "text": text, "time_unix_ms": NOW, **fields}


def lines(result):
    assert result.status == 0, result
    return [json.loads(line) for line in result.out.splitlines()]


@pytest.fixture
def supervisor():
    """Stands for the vigil in charge: a process that lives until it is told."""
    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    yield process
    process.kill()
    process.wait(10)
    process.stdin.close()


# --- no store, no job

@pytest.mark.parametrize("command", ["jobs", "ps", "events"])
def test_lists_of_nothing_are_empty_and_fine(vigil, command):
    result = vigil(command, "--json")
    assert (result.status, result.out) == (0, b""), result


@pytest.mark.parametrize("command", ["show", "logs", "why"])
def test_asking_for_the_last_of_no_jobs_gives_4(vigil, command):
    result = vigil(command)
    assert (result.status, result.out) == (4, b""), result
    assert "no job has been recorded" in result.text


@pytest.mark.parametrize("command", ["show", "logs", "why", "ps", "events"])
def test_an_unknown_job_gives_4_and_the_nearest_name(vigil, fill, command):
    fill(job("digits-ab12"))
    result = vigil(command, "digitz")
    assert (result.status, result.out) == (4, b""), result
    assert "did you mean 'digits'" in result.text
    assert vigil(command, "99999999").status == 4


@pytest.mark.parametrize("command", ["show", "logs", "why", "ps", "events", "jobs"])
def test_wrong_calls_give_2(vigil, command):
    assert vigil(command, "--no-such-option").status == 2
    assert vigil(command, "one", "two").status == 2


def test_a_damaged_store_is_named_and_left_alone(vigil):
    file = vigil.state / "vigil.db"
    file.write_bytes(b"no database" * 1000)
    for command in ("jobs", "why", "ps", "events", "show", "logs"):
        result = vigil(command)
        assert result.status == 1, result
        assert "damaged" in result.text and str(file) in result.text
    assert file.read_bytes().startswith(b"no database")


def test_a_state_directory_that_may_not_be_read_gives_3(vigil, fill, as_nobody, tmp_path):
    if not as_nobody:
        pytest.skip("only root can hand the test to somebody with fewer rights")
    fill(job("a-1"))
    for folder in (vigil.state, *vigil.state.parents):
        if folder != pathlib.Path("/") and folder.stat().st_uid == os.geteuid() and "pytest" in str(folder):
            folder.chmod(0o755)
    vigil.state.chmod(0o700)
    readable = pathlib.Path("/tmp") / f"vigil-{os.getpid()}"
    readable.write_bytes(vigil.binary.read_bytes())
    readable.chmod(0o755)
    try:
        result = vigil("jobs", prefix=as_nobody, binary=readable, cwd="/")
    finally:
        readable.unlink()
    assert result.status == 3, result
    assert str(vigil.state) in result.text


# --- jobs, ps, show

def test_jobs_come_newest_first_with_the_promised_fields(vigil, fill):
    fill(job("old-1", started_unix_ms=NOW - 90_000), job("new-1", peak_bytes=5 << 30, memory_kills=2, exit_status=137,
                                                          state="failed"))
    got = lines(vigil("jobs", "--json"))
    assert [j["id"] for j in got] == ["new-1", "old-1"]
    assert got[0]["schema"] == "vigil.job/1"
    assert (got[0]["exit_status"], got[0]["memory_kills"], got[0]["peak_bytes"]) == (137, 2, 5 << 30)
    assert "pid" not in got[0] and "last_incident" not in got[0], "what does not apply is absent"
    assert [j["id"] for j in lines(vigil("jobs", "-n1", "--json"))] == ["new-1"]
    text = vigil("jobs").out.decode()
    assert "5.00 GiB" in text and "137" in text and "\033" not in text


def test_a_job_whose_vigil_vanished_is_lost(vigil, fill, supervisor):
    fill(running("here-1", supervisor), running("gone-1", supervisor, supervisor_start_ticks=1),
         running("elsewhere-1", supervisor, supervisor_start_ticks=1, node="another-machine"))
    def states():
        return {j["id"]: j["state"] for j in lines(vigil("jobs", "--json"))}
    assert states() == {"here-1": "running", "gone-1": "lost", "elsewhere-1": "running"}
    assert [j["id"] for j in lines(vigil("jobs", "--running", "--json"))] == ["elsewhere-1", "here-1"]
    supervisor.kill()
    supervisor.wait(10)
    assert states()["here-1"] == "lost"
    report = vigil.why("gone-1")
    assert report["cause"]["id"] == "supervisor_lost"
    assert report["killer"] == "unknown"
    assert "lost" in vigil("show", "gone-1").out.decode()


def test_a_job_from_before_the_machine_was_started_says_so(vigil, fill):
    fill(job("ancient-1", state="running", ended_unix_ms=None, exit_status=None, supervisor_pid=1,
             supervisor_start_ticks=999_999_999, started_unix_ms=BOOT - 3_600_000))
    assert vigil.why()["cause"]["id"] == "machine_restarted"


def test_ps_shows_memory_as_it_is_now(vigil, fill, supervisor):
    program = "import sys; x = bytearray(64 << 20); print('ready', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as held:
        held.stdout.readline()
        fill(running("a-1", supervisor, pid=held.pid),
             {"put": "process", "job": "a-1", "pid": held.pid, "start_ticks": ticks(held.pid), "rank": 3, "role": "main",
              "command": "python3 train.py"},
             {"put": "process", "job": "a-1", "pid": held.pid, "start_ticks": 7, "command": "long gone"})
        got = lines(vigil("ps", "--json"))
        assert len(got) == 1, "the one with another start time is another process"
        assert (got[0]["schema"], got[0]["pid"], got[0]["rank"], got[0]["running"]) == ("vigil.process/1", held.pid, 3, True)
        assert 64 << 20 <= got[0]["own_bytes"] < 128 << 20
        assert len(lines(vigil("ps", held.pid, "--all", "--json"))) == 2, "a pid names its job"
        assert str(held.pid) in vigil("ps").out.decode()
        held.stdin.close()
        held.wait(10)
    assert lines(vigil("ps", "--json")) == []


def test_show_is_one_object_with_everything(vigil, fill):
    fill(job("a-1", last_incident="a-1.1"), incident("a-1.1", "a-1"), event("a-1", "job_start", "python3"),
         event("b-1", "job_start"), {"put": "process", "job": "a-1", "pid": 5, "wait_status": 9, "ended_unix_ms": NOW})
    for what in ("a-1", "a", "last", "5"):
        result = vigil("show", what, "--json")
        assert result.status == 0, result
        got = result.json()
        assert (got["schema"], got["id"]) == ("vigil.job/1", "a-1")
        assert [e["kind"] for e in got["events"]] == ["job_start"]
        assert [p["signal"] for p in got["processes"]] == [9]
        assert [i["id"] for i in got["incidents"]] == ["a-1.1"]
    text = vigil("show").out.decode()
    assert "SIGKILL" in text and "a-1.1" in text


# --- events

def test_events_are_filtered_by_job_and_cut_to_the_last(vigil, fill):
    fill(job("a-1"), job("b-1"), *(event("a-1", f"k{n}") for n in range(5)), event("b-1", "other"))
    kinds = [e["kind"] for e in lines(vigil("events", "a", "--json"))]
    assert kinds == ["k0", "k1", "k2", "k3", "k4"]
    assert [e["kind"] for e in lines(vigil("events", "--tail", "2", "--json"))] == ["k4", "other"]
    seq = [e["seq"] for e in lines(vigil("events", "--json"))]
    assert seq == sorted(set(seq))


def read_line(process, deadline_s=10):
    import select
    readable, _, _ = select.select([process.stdout], [], [], deadline_s)
    assert readable, "no line in time"
    return process.stdout.readline()


def test_events_are_followed_as_they_happen_and_end_with_the_job(vigil, fill, supervisor):
    fill(running("a-1", supervisor), event("a-1", "job_start"))
    following = vigil.start("events", "a-1", "--follow", "--json")
    assert json.loads(read_line(following))["kind"] == "job_start"
    fill(event("b-1", "not_ours"), event("a-1", "kill"))
    assert json.loads(read_line(following))["kind"] == "kill"
    fill(event("a-1", "job_end"), job("a-1"))
    result = vigil.finish(following, 10)
    assert result.status == 0, result
    assert b"job_end" in result.out and b"not_ours" not in result.out


def test_following_waits_for_a_store_and_uses_no_cpu(vigil, fill):
    following = vigil.start("events", "--follow", "--json")
    watcher = psutil.Process(following.pid)
    wait_for(lambda: watcher.status() == psutil.STATUS_SLEEPING, 10)
    fill(job("a-1"), event("a-1", "first"))
    assert json.loads(read_line(following))["kind"] == "first"
    before = sum(watcher.cpu_times()[:2])
    fill(event("a-1", "second"))
    assert json.loads(read_line(following))["kind"] == "second"
    assert sum(watcher.cpu_times()[:2]) - before < 0.1
    following.send_signal(signal.SIGINT)
    vigil.finish(following, 10)


def test_a_reader_that_goes_away_ends_the_following(vigil, fill, supervisor):
    fill(running("a-1", supervisor), event("a-1", "job_start"))
    following = vigil.start("events", "--follow")
    read_line(following)
    following.stdout.close()
    assert following.wait(10) == 0


# --- logs

@pytest.fixture
def kept(vigil, fill):
    """kept("a-1", {(0, "out"): "text"}, attempt=0) writes what a job printed."""
    def write(id, files, attempt=0):
        folder = vigil.state / "jobs" / id / f"attempt-{attempt}"
        folder.mkdir(parents=True, exist_ok=True)
        for (rank, stream), text in files.items():
            (folder / f"rank-{rank}.{stream}").write_text(text)
        return folder
    return write


def test_logs_of_one_rank_come_as_they_were_printed(vigil, fill, kept):
    fill(job("a-1"))
    kept("a-1", {(0, "out"): "one\ntwo\r 50%\rthree", (0, "err"): ""})
    assert vigil("logs").out == b"one\ntwo\r 50%\rthree"
    kept("a-1", {(0, "err"): "oops\n"})
    assert vigil("logs", "--stderr").out == b"oops\n"
    assert vigil("logs", "--stdout", "--tail", "1").out == b"two\r 50%\rthree"
    assert vigil("logs", "--tail", "0").out == b""
    assert b"[err] oops\n" in vigil("logs").out


def test_lines_of_several_ranks_are_marked(vigil, fill, kept):
    fill(job("a-1", nproc=2))
    kept("a-1", {(0, "out"): "x\ny\n", (0, "err"): "", (10, "out"): "z", (10, "err"): "", (2, "out"): "w\n"})
    assert vigil("logs").out == b"[rank 0] x\n[rank 0] y\n[rank 2] w\n[rank 10] z\n"
    assert vigil("logs", "--rank", "10").out == b"z"
    assert vigil("logs", "--tail", "1").out == b"[rank 0] y\n[rank 2] w\n[rank 10] z\n"
    result = vigil("logs", "--rank", "7")
    assert (result.status, result.out) == (4, b""), result


def test_the_newest_attempt_is_shown_unless_one_is_named(vigil, fill, kept):
    fill(job("a-1", attempt=11))
    for n in (0, 2, 11):
        kept("a-1", {(0, "out"): f"attempt {n}\n"}, attempt=n)
    assert vigil("logs").out == b"attempt 11\n"
    assert vigil("logs", "--attempt", "2").out == b"attempt 2\n"
    assert vigil("logs", "--attempt", "5").status == 4


def test_the_last_lines_of_a_large_log_are_found(vigil, fill, kept):
    fill(job("a-1"))
    kept("a-1", {(0, "out"): "".join(f"line {n}\n" for n in range(200_000))})
    assert vigil("logs", "-n", "3").out == b"line 199997\nline 199998\nline 199999\n"
    whole = vigil("logs").out
    assert whole.startswith(b"line 0\n") and whole.count(b"\n") == 200_000


def test_logs_are_followed_into_the_next_attempt_until_the_job_ends(vigil, fill, kept, supervisor):
    fill(running("a-1", supervisor))
    folder = kept("a-1", {(0, "out"): "old\nbegun\n", (0, "err"): ""})
    following = vigil.start("logs", "a-1", "--follow", "--tail", "1")
    assert read_line(following) == b"begun\n"
    with open(folder / "rank-0.err", "a") as f:
        f.write("a warning\n")
    assert read_line(following) == b"[err] a warning\n"
    fill(running("a-1", supervisor, attempt=1))
    kept("a-1", {(0, "out"): "again\n"}, attempt=1)
    assert read_line(following) == b"again\n"
    with open(folder.parent / "attempt-1" / "rank-0.out", "a") as f:
        f.write("the end")
    fill(job("a-1", attempt=1))
    result = vigil.finish(following, 10)
    assert result.status == 0, result
    assert result.out == b"the end"


def test_following_leaves_no_attempt_out(vigil, fill, kept, supervisor):
    """Two attempts that begin while nobody looks, and what was printed last, by a rank that had printed nothing before."""
    fill(running("a-1", supervisor, nproc=2))
    kept("a-1", {(0, "out"): "begun\n", (1, "err"): ""})
    following = vigil.start("logs", "a-1", "--follow")
    assert read_line(following) == b"[rank 0] begun\n"
    following.send_signal(signal.SIGSTOP)
    kept("a-1", {(1, "out"): "last words\n"})
    kept("a-1", {(0, "out"): "once more\n"}, attempt=1)
    kept("a-1", {(0, "out"): "again\n", (1, "out"): ""}, attempt=2)
    fill(job("a-1", attempt=2))
    following.send_signal(signal.SIGCONT)
    result = vigil.finish(following, 10)
    said = [line.split(b"] ")[-1] for line in result.out.splitlines()]
    assert said == [b"last words", b"once more", b"again"], result
    assert result.text.count("attempt 1 begins") == result.text.count("attempt 2 begins") == 1, result


def test_following_goes_on_where_a_file_was_cut_back(vigil, fill, kept, supervisor):
    """As it is on file systems without holes: its beginning stays, and what comes is appended to it."""
    fill(running("a-1", supervisor))
    path = kept("a-1", {(0, "out"): "x" * 99 + "\n" + ("y" * 99 + "\n") * 2000}) / "rank-0.out"
    following = vigil.start("logs", "a-1", "--follow", "--tail", "1")
    assert read_line(following) == b"y" * 99 + b"\n"
    following.send_signal(signal.SIGSTOP)
    os.truncate(path, 64 << 10)
    with open(path, "a") as f:
        f.write("behind it\n")
    fill(job("a-1"))
    following.send_signal(signal.SIGCONT)
    assert vigil.finish(following, 10).out.endswith(b"not all kept]\nbehind it\n")


def test_following_ends_when_the_vigil_in_charge_is_killed(vigil, fill, kept, supervisor):
    fill(running("a-1", supervisor))
    kept("a-1", {(0, "out"): "begun\n"})
    following = vigil.start("logs", "--follow")
    assert read_line(following) == b"begun\n"
    supervisor.kill()
    supervisor.wait(10)
    assert vigil.finish(following, 10).status == 0


def test_an_adopted_job_has_no_logs(vigil, fill):
    fill(job("a-1", adopted=True))
    result = vigil("logs")
    assert result.status == 4, result
    assert "was not started by vigil" in result.text


# --- why

def test_why_finds_the_report_by_every_name(vigil, fill):
    fill(job("a-1", state="failed", exit_status=139, last_incident="a-1.2"), incident("a-1.1", "a-1", victim={"pid": 70}),
         incident("a-1.2", "a-1", time_unix_ms=NOW - 35_000, victim={"pid": 71}, stacks=[{"rank": 0}]))
    for what, id in (("last", "a-1.2"), ("a", "a-1.2"), ("a-1", "a-1.2"), ("a-1.1", "a-1.1"), ("a.1", "a-1.1"), ("70", "a-1.1"), ("71", "a-1.2")):
        assert vigil.why(what)["id"] == id, what
    assert vigil("why", "--json").json()["stacks"] == [{"rank": 0}], "what this version does not know is passed on"
    assert [r["id"] for r in lines(vigil("why", "a", "--all", "--json"))] == ["a-1.1", "a-1.2"]
    text = vigil("why").out.decode()
    assert "Something happened to a-1." in text and "vigil why a-1.2 --json" in text


def test_why_of_a_job_that_runs_says_so(vigil, fill, supervisor):
    fill(running("a-1", supervisor, pid=supervisor.pid),
         {"put": "process", "job": "a-1", "pid": supervisor.pid, "start_ticks": ticks(supervisor.pid), "command": "cat"})
    result = vigil("why", "a-1")
    assert result.status == 0, result
    assert "is running" in result.out.decode() and str(supervisor.pid) in result.out.decode()
    result = vigil("why", "a-1", "--json")
    assert (result.status, result.out) == (4, b"")
    fill(incident("a-1.1", "a-1"))
    assert "goes on" in vigil("why", "a-1").out.decode()
    assert vigil.why("a-1")["id"] == "a-1.1"


def test_why_of_a_job_that_ended_well_says_so(vigil, fill):
    fill(job("bad-1", started_unix_ms=NOW - 600_000, state="failed"), incident("bad-1.1", "bad-1"), job("good-1"))
    report = vigil.why()
    assert (report["kind"], report["job"], report["killer"]) == ("clean_exit", "good-1", "none")
    fill(incident("good-1.1", "good-1"))
    assert "ended as it should" in vigil("why").out.decode(), "the job went on after its incident"


def test_a_failure_without_a_report_is_told_with_what_is_known(vigil, fill):
    fill(job("a-1", state="failed", exit_status=3))
    report = vigil.why()
    assert (report["kind"], report["victim"]["exit_code"]) == ("error_exit", 3)


def test_a_stored_report_that_is_broken_gives_1(vigil, fill):
    fill(job("a-1", state="failed"), {"put": "incident", "id": "a-1.1", "job": "a-1", "text": "{\"schema\": \"vigil.inci"})
    result = vigil("why", "a-1")
    assert result.status == 1, result
    assert "cannot be read back" in result.text


# --- terminals

def terminal(vigil, *args, columns=80, env=None):
    import fcntl
    import pty
    import struct
    import termios
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = vigil.start(*args, stdout=slave, env={"TERM": "xterm", **(env or {})})
    os.close(slave)
    out = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        out += piece
    os.close(master)
    assert process.wait(10) == 0
    return out.decode()


def test_tables_fit_the_terminal_and_pipes_get_everything(vigil, fill):
    fill(job("a-1", command="python3 " + "x" * 300))
    for columns in (100, 140):
        for line in terminal(vigil, "jobs", columns=columns, env={"NO_COLOR": "1"}).splitlines():
            assert len(line) <= columns
    assert "x" * 300 in vigil("jobs").out.decode()


def test_colours_are_for_terminals_that_want_them(vigil, fill):
    fill(job("a-1", state="failed"), incident("a-1.1", "a-1"))
    for command in ("jobs", "why"):
        assert "\033[31m" in terminal(vigil, command)
        assert "\033" not in terminal(vigil, command, env={"NO_COLOR": "1"})
        assert "\033" not in terminal(vigil, command, env={"TERM": "dumb"})
        assert b"\033" not in vigil(command).out


def test_what_a_job_printed_cannot_play_with_the_terminal(vigil, fill):
    evil = "\033]0;owned\007\033[2J"
    fill(job("a-1", command=evil), event("a-1", "job_start", evil), incident("a-1.1", "a-1", summary=evil),
         {"put": "process", "job": "a-1", "pid": 5, "command": evil})
    for command in (["jobs"], ["show"], ["events"], ["why"], ["ps", "last", "--all"]):
        assert b"\033" not in vigil(*command).out, command


def test_output_that_cannot_be_written_is_a_failure(vigil, fill):
    fill(*(job(f"a-{n}") for n in range(3)))
    with open("/dev/full", "w") as full:
        result = vigil("jobs", stdout=full)
    assert result.status == 1, result
    assert "cannot write the output" in result.text


def test_logs_as_json_say_whose_line_each_is(vigil):
    program = "import os, sys\nprint('a \\x07bell of', os.environ['RANK'])\nsys.stdout.flush()\nsys.stderr.buffer.write(b'bad \\xff byte')"
    assert vigil("run", "--nproc", 2, "--", sys.executable, "-c", program).status == 0
    result = vigil("logs", "last", "--json")
    lines = [json.loads(line) for line in result.out.splitlines()]
    assert {line["schema"] for line in lines} == {"vigil.log/1"} and {line["attempt"] for line in lines} == {0}
    assert [(x["rank"], x["stream"], x["line"]) for x in lines if x["stream"] == "stdout"] == [
        (0, "stdout", "a \x07bell of 0"), (1, "stdout", "a \x07bell of 1")]
    assert [x["rank"] for x in lines if x["stream"] == "stderr" and x["line"].startswith("bad ") and x["line"].endswith(" byte")] == [0, 1]
    assert len(vigil("logs", "last", "--json", "--rank", 1, "--stdout").out.splitlines()) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="needs two users")
def test_a_process_that_may_not_be_read_is_status_3_even_where_its_child_may(nobodys_vigil, as_nobody):  # noqa: F811
    program = ("import os, subprocess, sys, time\n"
               "p = subprocess.Popen(['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--inh-caps=-all', 'sleep', '60'])\n"
               "print(p.pid, flush=True)\np.wait()")
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    try:
        child = int(parent.stdout.readline())
        wait_for(lambda: psutil.Process(child).name() == "sleep", 20, "the child")
        result = nobodys_vigil("stack", parent.pid, prefix=as_nobody, cwd=nobodys_vigil.folder)
        assert result.status == 3, result
        assert str(child).encode() in result.out, result
        assert nobodys_vigil("stack", child, prefix=as_nobody, cwd=nobodys_vigil.folder).status == 0
    finally:
        psutil.Process(child).kill()
        parent.wait(10)


def test_without_a_name_what_looks_at_a_job_takes_one_that_runs(vigil):
    lives = subprocess.Popen([vigil.binary, "run", "--name", "lives", "--", "python3", "-uc", "print('ready'); input()"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=vigil.environment({}))
    try:
        assert lives.stdout.readline() == "ready\n"
        assert vigil("stack").err == b""
        assert vigil("run", "--name", "later", "--", "true").status == 0
        for command in (["stack"], ["waits", "--json"], ["flame", "-d", "0.2", "-o", os.devnull]):
            got = vigil(*command)
            assert got.status == 0 and b"job lives" in got.err and b"the newest that runs" in got.err, (command, got.err)
        assert vigil("stack", "last").status == 4
    finally:
        lives.communicate("\n")
    ended = vigil("stack")
    assert ended.status == 4 and b"job later" in ended.err
