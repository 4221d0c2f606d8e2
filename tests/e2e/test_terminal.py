"""What commands print on a terminal: no wider than it, paged when longer, and vigil's lines apart from the job's."""
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

import pytest

BAR = """
import os, sys
for i in range(4):
    sys.stderr.write('\\r %3d%%|####      | %d/100' % (i, i)); sys.stderr.flush()
os.kill(os.getpid(), 9)
"""
FAILS = "raise ValueError('no column named label in ' + ' '.join('/data/part-%d' % i for i in range(30)))"


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, vigil, *args, columns=80, rows=24, env=None, stderr=None):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.text = b""
        self.process = subprocess.Popen([vigil.binary, *args], stdin=slave, stdout=slave, stderr=stderr or slave,
                                        env=vigil.environment({"TERM": "xterm", "LC_ALL": "C.UTF-8", **(env or {})}),
                                        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)

    def read(self, until=None, seconds=60):
        """All that it prints, or as far as the pattern."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if until and re.search(until, self.text):
                return self.text.decode(errors="replace")
            if not select.select([self.master], [], [], 0.1)[0]:
                continue
            try:
                self.text += os.read(self.master, 65536)
            except OSError:
                assert not until, f"{until!r} never came: {self.text!r}"
                return self.text.decode(errors="replace")
        raise AssertionError(f"it did not end, or {until!r} never came: {self.text!r}")

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)


@pytest.fixture
def terminal(vigil):
    opened = []

    def start(*args, **how):
        opened.append(Terminal(vigil, *args, **how))
        return opened[-1]
    yield start
    for one in opened:
        one.close()


def columns_of(line):
    return len(re.sub(r"\x1b\[[0-9;]*m", "", line.rstrip("\r")))


def a_past(vigil):
    """A job of many lines, one that was ended for memory, and the last, which failed with a long message."""
    assert vigil("run", "--name", "counts", "--nproc", "2", "--", "python3", "-c",
                 "print('step 1/20 loss 0.5')").status == 0
    vigil("run", "--name", "grows", "--memory-limit", "150M", "--", "python3", "-c",
          "a = []\nwhile True: a.append(bytearray(1 << 20))")
    assert vigil("run", "--name", "fails", "--", "python3", "-c", FAILS).status == 1


@pytest.mark.parametrize("columns", [50, 80, 132])
def test_no_line_is_wider_than_the_terminal(vigil, terminal, columns):
    a_past(vigil)
    commands = [["jobs"], ["ps", "-a"], ["show"], ["events"], ["why"], ["why", "grows"], ["mem"], ["doctor"], ["help"],
                ["protect", "--dry-run", str(os.getpid())]]
    for command in commands:
        with open(os.devnull, "wb") as messages:
            text = terminal(*command, columns=columns, stderr=messages, env={"VIGIL_PAGER": ""}).read()
        lines = text.split("\n")
        assert len(lines) > 2, (command, text)
        widest = max(lines, key=columns_of)
        limit = max(columns, 80) if command == ["help"] else columns  # examples are not broken
        assert columns_of(widest) <= limit, (command, widest)


@pytest.mark.parametrize("columns", [50, 80])
def test_no_line_of_a_stack_is_wider_than_the_terminal(vigil, terminal, columns):
    code = "import queue\ndef a_name_that_is_rather_long_for_a_function(q):\n    print('ready', flush=True)\n    q.get()\n"
    code += "a_name_that_is_rather_long_for_a_function(queue.Queue())"
    job = subprocess.Popen(["python3", "-c", code, "an argument " * 20], stdout=subprocess.PIPE, text=True)
    try:
        assert job.stdout.readline() == "ready\n"
        for command in (["stack", "--native"], ["waits"], ["calls", "-d", "0.3"], ["doctor", "-d", "1"]):
            with open(os.devnull, "wb") as messages:
                text = terminal(*command, str(job.pid), columns=columns, stderr=messages, env={"VIGIL_PAGER": ""}).read()
            lines = text.split("\n")
            assert command[0] == "doctor" or "get" in text, text
            widest = max(lines, key=columns_of)
            assert columns_of(widest) <= columns, (command, widest)
        with open(os.devnull, "wb") as messages:
            text = terminal("stack", "--json", str(job.pid), columns=columns, stderr=messages, env={"VIGIL_PAGER": ""}).read()
        assert json.loads(text)["processes"] and any(columns_of(line) > columns for line in text.split("\n"))
    finally:
        job.kill()
        job.wait()
        job.stdout.close()


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_nothing_is_coloured_where_no_colours_are_wanted(vigil, terminal, begin, env):
    job = begin(["python3", "-c", "import time; print('begun', flush=True); time.sleep(600)"])
    for command in (["stack", str(job.pid)], ["waits", str(job.pid)], ["mem"], ["gpus"], ["doctor", "-d", "1", str(job.pid)]):
        with open(os.devnull, "wb") as messages:
            text = terminal(*command, stderr=messages, env={"VIGIL_PAGER": "", **env}).read()
        assert text.strip() and "\x1b[" not in text, (command, text)


def test_the_least_important_columns_go_first(vigil, terminal):
    a_past(vigil)
    wide = terminal("ps", "-a", columns=140, env={"VIGIL_PAGER": ""}).read().split("\n")[0]
    narrow = terminal("ps", "-a", columns=60, env={"VIGIL_PAGER": ""}).read().split("\n")[0]
    assert all(word in wide for word in ("JOB", "RANK", "PID", "OWN", "RESIDENT", "STEP", "COMMAND"))
    assert all(word in narrow for word in ("JOB", "RANK", "PID", "OWN", "COMMAND"))
    assert "STEP" not in narrow and "RESIDENT" not in narrow
    for command in (["ps", "-a"], ["jobs"]):  # how far it is stands in a terminal of the usual width
        usual = terminal(*command, columns=80, env={"VIGIL_PAGER": ""}).read().split("\n")[0]
        assert "STEP" in usual and "COMMAND" in usual, usual


def test_without_a_terminal_nothing_is_left_out(vigil):
    a_past(vigil)
    head = vigil("ps", "-a").out.decode().split("\n")[0]
    assert all(word in head for word in ("JOB", "TRY", "RANK", "ROLE", "RESIDENT", "SHARED", "PEAK", "STEP"))


def test_a_message_does_not_stick_to_a_progress_bar(vigil, terminal):
    text = terminal("run", "--", "python3", "-c", BAR).read()
    assert "3/100" in text and "vigil:" in text
    bar = next(line for line in text.split("\n") if "3/100" in line)
    assert "vigil" not in bar and "Task" not in bar, text
    assert "\n\r\n" not in text.split("3/100", 1)[1].split("vigil:", 1)[0], "one new line is enough"


@pytest.mark.parametrize("where", ["> all 2>&1", "2> all", "2>&1 | cat > all"])
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_message_in_a_file_does_not_stick_to_a_progress_bar(vigil, binary, tmp_path, where, stream):
    """As people have it who go home: vigil run -- python train.py > log 2>&1 &"""
    bar = BAR.replace("stderr", stream)
    (tmp_path / "bar.py").write_text(bar)
    done = subprocess.run(["bash", "-c", f"{binary} run -- python3 bar.py {where}"], cwd=tmp_path,
                          env=vigil.environment(), capture_output=True, timeout=60)
    text = (tmp_path / "all").read_text()
    assert "vigil: " in text, (done, text)
    line = next(line for line in text.split("\n") if "vigil: " in line)
    assert line.startswith("vigil: "), text
    assert "\n\n" not in text, text


def test_what_one_looks_for_first_stays_in_a_narrow_terminal(vigil, terminal):
    assert vigil("run", "--name", "narrow", "--", "true").status == 0
    plain = {"VIGIL_PAGER": "", "NO_COLOR": "1"}
    jobs = terminal("jobs", columns=80, env=plain).read().split("\r\n")
    assert jobs[0].split() == ["JOB", "STATE", "EXIT", "RAN", "STEP", "RATE", "LEFT", "COMMAND"], jobs[0]
    of_all, of_one = (terminal("ps", *more, "-a", columns=80, env=plain).read().split("\r\n")[0] for more in ([], ["narrow"]))
    assert of_all.split() == ["JOB", "RANK", "PID", "OWN", "STEP", "RATE", "LEFT", "COMMAND"], of_all
    assert of_one.split() == ["RANK", "ROLE", "PID", "OWN", "STEP", "RATE", "LEFT", "STATE", "COMMAND"], of_one
    events = terminal("events", columns=60, env={"VIGIL_PAGER": ""}).read().split("\r\n")
    assert any(re.search(r"\d{4}-\d\d-\d\d .*  narrow-\w+ .* job_start", line) for line in events), events


@pytest.mark.parametrize("columns", [40, 60, 80, 132])
def test_what_happened_is_told_whole_in_a_narrow_terminal(vigil, terminal, columns):
    told = "python3 (pid N) ended with a Python exception: KeyError: 'missing'"
    assert vigil("run", "--name", "narrow", "--", "python3", "-c", "{}['missing']").status == 1
    for command in (["events"], ["events", "narrow"], ["show", "narrow"]):
        text = terminal(*command, columns=columns, env={"VIGIL_PAGER": "", "NO_COLOR": "1"}).read()
        lines = text.replace("\r", "").split("\n")
        assert max(map(len, lines)) <= columns and "…" not in " ".join(x for x in lines if "KeyError" in x), text
        assert told in re.sub(r"pid \d+", "pid N", " ".join(text.split())), text


@pytest.mark.parametrize("columns", [40, 60, 80, 132])
def test_messages_are_broken_at_words_to_the_terminal(vigil, terminal, columns):
    for command in (["run", "--", "python3", "-c", BAR], ["run", "--memory-limit", "150M", "--name", "grows", "--", "python3", "-c",
                    "a = []\nwhile True: a.append(bytearray(1 << 20))"], ["why", "no-such-job"], ["bogus"],
                    ["run", "--no-such-option-at-all", "--", "true"]):
        text = terminal(*command, columns=columns, env={"VIGIL_PAGER": ""}).read()
        lines = [line for line in text.split("\r\n") if "###" not in line]  # but for the bar
        assert columns_of(max(lines, key=columns_of)) <= columns, (command, text)
        at = next(i for i, line in enumerate(lines) if line.startswith("vigil: "))
        if columns == 40:
            assert any(line.startswith("    ") for line in lines[at:]), text


def test_messages_are_one_line_each_where_there_is_no_terminal(vigil):
    done = vigil("run", "--", "python3", "-c", BAR, env={"COLUMNS": "40"})
    said = [line for line in done.err.decode().split("\n") if line]
    assert any(line.startswith("vigil: ") and len(line) > 80 for line in said), done.err
    assert all(re.match(r"vigil: |\r|Task", line) for line in said), done.err


def test_a_message_after_a_whole_line_has_no_empty_line_before_it(vigil, terminal):
    text = terminal("run", "--", "python3", "-c", "import os; print('done \\x1b[32mwell\\n\\x1b[0m', end='', flush=True)\n"
                    "os.kill(os.getpid(), 9)").read()
    after = text.split("well", 1)[1]
    assert "vigil:" in after and "\n\r\n" not in after.split("vigil:", 1)[0], text


def test_long_output_goes_through_the_pager(vigil, terminal):
    less = terminal("help", "run", rows=10, env={"PAGER": "less"})
    first = less.read(until=rb":\x1b?")
    assert "Usage" in first
    assert len(first.split("\n")) <= 12, "only the first page"
    os.write(less.master, b"q")
    less.read()
    assert less.process.wait(10) == 0


@pytest.mark.parametrize("pager", ["", "cat", "/nonexistent/pager", "false"])
def test_without_a_pager_all_is_printed(vigil, terminal, pager):
    text = terminal("help", "run", rows=10, env={"PAGER": pager}).read()
    assert ("Usage" in text and "--retries" in text) or pager == "false"


def test_short_output_needs_no_pager(vigil, terminal):
    text = terminal("version", rows=10, env={"PAGER": "/nonexistent/pager"}).read()
    assert re.match(r"vigil \d", text)


def test_what_is_for_programs_is_not_paged(vigil, terminal):
    assert vigil("run", "--name", "counts", "--nproc", "8", "--", "true").status == 0
    mark = {"PAGER": "sed s/^/PAGED:/"}
    assert "PAGED:" in terminal("show", rows=5, columns=60, env=mark).read()
    for command in (["events", "--json"], ["show", "--json"], ["mem", "--json"], ["ps", "-a", "--json"]):
        text = terminal(*command, rows=5, columns=60, env=mark).read()
        # a process of another test's that does not answer may be told of first
        assert "PAGED:" not in text and "\n{" in "\n" + text, text


def test_the_pagers_words_are_no_shell(vigil, terminal, tmp_path):
    made = tmp_path / "made"
    text = terminal("help", "run", rows=10, env={"PAGER": f"cat; touch {made}"}).read()
    assert "--retries" in text and not made.exists()


def test_a_pager_that_is_left_early_is_no_failure(vigil, terminal):
    done = terminal("help", "run", rows=10, env={"PAGER": "head -n 3"})
    assert "Usage" in done.read()
    assert done.process.wait(10) == 0


def completed(vigil, *words):
    """What bash offers for the last of these words of a command line."""
    script = vigil("help", "--completion", "bash").out.decode()
    script += 'COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _vigil; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script, "bash", vigil.binary, *words], env=vigil.environment(), capture_output=True,
                          text=True, timeout=60, check=True)
    return done.stdout.split()


def test_bash_completes_commands_jobs_and_words(vigil):
    assert vigil("run", "--name", "digits", "--", "true").status == 0
    assert completed(vigil, "wh") == ["why"] and "collectives" in completed(vigil, "")
    for command in ("why", "ps", "show", "events", "logs", "stack", "mem", "timeline", "report", "doctor", "top"):
        assert "digits" in completed(vigil, command, "dig"), command
    assert completed(vigil, "help", "sho") == ["show"]
    assert completed(vigil, "config", "") == ["check", "show"] and "spool" in completed(vigil, "notify", "")
    assert "check" in completed(vigil, "rules", "ch")
    assert completed(vigil, "flame", "--format", "sv") == ["svg"]
    for option in ("--html", "--state"):  # a file or a folder, which bash completes itself
        assert completed(vigil, "report", option, "dig") == []


def test_a_report_that_was_not_kept_is_not_pointed_to(vigil, tmp_path):
    (tmp_path / "file").write_text("")
    away = {"VIGIL_STATE_DIR": str(tmp_path / "file" / "state")}
    done = vigil("run", "--", "python3", "-c", "raise SystemExit(3)", env=away)
    assert done.status == 3 and "exit status 3" in done.text and "cannot keep" in done.text, done
    assert "vigil why" not in done.text, done
    assert "vigil why" in vigil("run", "--", "python3", "-c", "raise SystemExit(3)").text
