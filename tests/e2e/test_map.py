"""vigil map: a bag of tasks, beside GNU parallel where its spellings are used."""
import os
import pathlib
import pty
import re
import signal
import subprocess
import time

import psutil
import pytest

from conftest import wait_for
from mapkit import PARALLEL, parallel

NASTY = ["a b", "it's", "a/b.c", "/x", "x/", ".hid", "a.b/c", "", "-x", "a$b", "a\tb", "a\\b", "ü", "a.tar.gz", "./..", "/",
         "a//b", "a=b,c:d@e%f+g_h^~", "*", "$(touch pwned)", "; exit 9", "`id`", "a'b\"c", "{}", "{1}"]


@pytest.fixture
def bag(vigil, tmp_path):
    def run(*args, **kwargs):
        kwargs.setdefault("cwd", tmp_path)
        return vigil("map", *args, **kwargs)
    return run


SPELLINGS = [
    ["echo"], ["echo", "{}"], ["echo", "{.}", "{/}", "{//}", "{/.}"], ["echo", "[{}]{.}-{#}"], ["-N2", "echo", "{1}-{2}"],
    ["-N2", "echo", "x{}y"], ["-N", "3", "echo"], ["--tag", "echo"], ["-d", ",", "echo"], ["-j", "50%", "echo"], ["-j+0", "echo"],
    ["-u", "-j1", "echo"], ["--line-buffer", "-j1", "echo"], ["--retries", "2", "echo"], ["--delay", "0.01", "echo"],
    ["--dry-run", "echo", "{}"], ["--timeout", "20", "echo"], ["--halt", "soon,fail=1", "echo"], ["-q", "echo", "{}"],
]


@pytest.mark.skipif(not PARALLEL, reason="GNU parallel is not installed")
@pytest.mark.parametrize("spelling", SPELLINGS, ids=" ".join)
def test_output_is_that_of_gnu_parallel(bag, tmp_path, spelling):
    order = [] if "-u" in spelling or "--line-buffer" in spelling else ["-k"]
    lines = "".join(f"{x}\n" for x in NASTY).encode()
    expected, status = parallel(*order, *spelling, cwd=tmp_path, input=lines)
    result = bag(*order, *spelling, input=lines)
    assert result.out == expected and result.status == status, result
    assert not (tmp_path / "pwned").exists()


@pytest.mark.skipif(not PARALLEL, reason="GNU parallel is not installed")
@pytest.mark.parametrize("args", [
    ["echo", "{1}-{2}", ":::", "a", "b", ":::", "c", "d"], ["echo", "{2}", "{-1}", "{}", ":::", "a", "b c", ":::", "d"],
    ["echo", "a{}b", ":::", "1", "2", ":::", "3"], ["echo", "{1/}", "{2.}", "{-1//}", ":::", "a/b", ":::", "c/d.e"],
    ["echo", "::::", "one", "two"], ["-a", "one", "-a", "two", "echo"], ["-a", "one", "echo", ":::", "x"], ["echo", ":::"],
    ["-0", "echo", "::::", "nul"],
], ids=" ".join)
def test_sources_combine_as_in_gnu_parallel(bag, tmp_path, args):
    (tmp_path / "one").write_bytes(b"1\n2 2\n\n3")
    (tmp_path / "two").write_bytes(b"x\ny\n")
    (tmp_path / "nul").write_bytes(b"a\nb\0c\0\0")
    expected, status = parallel("-k", *args, cwd=tmp_path)
    result = bag("-k", *args)
    assert result.out == expected and result.status == status, result


HOSTILE = ["a b", "$(touch ran)", "`touch ran`", "'; touch ran; '", '"; touch ran; "', "\\", "a\\'b", "*", "~", "", "!x", "a\nb", "${HOME}",
           "#", "&", "$(touch ran", "');touch ran;('"]


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize("script", ["printf '%s\\0' {}", 'printf "%s\\0" "{}"', "printf '%s\\0' '{}'", "v=\"{}\"; printf '%s\\0' \"$v\"",
                                    "# it's\nprintf '%s\\0' {}", "printf %s {}; printf '\\0'"])
def test_a_shell_reads_an_input_as_it_is(bag, tmp_path, shell, script):
    result = bag("-k", "-j4", shell, "-c", script, ":::", *HOSTILE)
    assert result.status == 0 and result.out.split(b"\0")[:-1] == [text.encode() for text in HOSTILE], result
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize("script", ["cat <<E\n{}\nE", "echo \"$(echo \"{}\")\"", "echo \"$(echo '{}')\"", "echo \"$(echo {})\"", "echo `echo \"{}\"`",
                                    "echo \\{}", "echo \"`echo '{}'`\"", "echo \"${x:-{}}\"", "sh -c 'echo \"$1\"' sh {}"])
def test_no_input_becomes_a_command_wherever_it_stands(bag, tmp_path, shell, script):
    bag("-k", "-j4", shell, "-c", script, ":::", *HOSTILE)
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(not PARALLEL, reason="GNU parallel is not installed")
@pytest.mark.parametrize("script,inputs,extra", [
    ("exit {}", ["0", "3", "200"], []), ("kill -{} $$", ["9", "15", "6"], []), ("exit {}", ["0", "7", "3"], ["--halt", "now,fail=1"]),
    ("exit {}", ["0", "7", "3"], ["--halt", "soon,fail=1"]), ("exit {}", ["5", "0", "3"], ["--halt", "now,success=1"]),
    ("exit {}", ["5", "0", "3"], ["--halt", "now,done=1"]), ("echo {}; exit 1", ["a"], ["--retries", "3"]),
    ("exit {}", list("00110000"), ["--halt", "now,fail=2"]), ("exit {}", list("01000000"), ["--halt", "soon,fail=10%"]),
    ("exit {}", list("011000"), ["--halt", "now,fail=50%"]), ("exit {}", list("0010000000"), ["--halt", "now,done=30%"]),
    ("exit {}", list("1100"), ["--halt", "-1"]), ("exit {}", list("1010"), ["--halt", "30%"]),
    ("sleep {}", ["9"], ["--timeout", "0.3"]),
])
def test_the_joblog_and_the_status_are_those_of_gnu_parallel(bag, tmp_path, script, inputs, extra):
    _, status = parallel("-j1", "--joblog", "theirs", *extra, script, ":::", *inputs, cwd=tmp_path)
    result = bag("-j1", "--joblog", "ours", *extra, "sh", "-c", script, ":::", *inputs)
    assert result.status == status, result

    def rows(name):
        lines = [line.split("\t") for line in (tmp_path / name).read_text().splitlines()]
        assert all(len(line) == 9 for line in lines)
        return lines[0], [(c[0], c[4], c[5], c[6], c[7]) for c in lines[1:]]
    assert rows("ours") == rows("theirs")


@pytest.mark.skipif(not PARALLEL, reason="GNU parallel is not installed")
def test_results_lie_where_gnu_parallel_puts_them(bag, tmp_path):
    inputs = ["a/b", "t\tt", "x y", "back\\slash"]
    parallel("--results", "theirs", "echo", ":::", *inputs, ":::", "z", cwd=tmp_path)
    assert bag("--results", "ours", "echo", ":::", *inputs, ":::", "z").status == 0

    def files(name):
        return {str(p.relative_to(tmp_path / name)): p.read_bytes() for p in (tmp_path / name).rglob("*") if p.is_file()}
    assert files("ours") == files("theirs") and len(files("ours")) == 3 * len(inputs)


def test_results_stay_in_their_folder(bag, tmp_path):
    assert bag("--results", "in/r", "echo", ":::", "..", ".", "../../out").status == 0
    assert [p.name for p in (tmp_path / "in").iterdir()] == ["r"] and not (tmp_path / "out").exists()
    assert sorted(p.name for p in (tmp_path / "in/r/1").iterdir()) == ["..\\_..\\_out", "\\.", "\\.."]


def test_a_program_that_is_not_there(bag):
    result = bag("no-such-program", ":::", "a", "b")
    assert result.status == 127 and result.text.count("no such command") == 1, result
    result = bag("/etc/passwd", ":::", "a")
    assert result.status == 126 and "Permission denied" in result.text, result
    result = bag("{}", ":::", "no-such-program", "true")
    assert result.status == 1, result  # one of two tasks failed
    result = bag("echo {}", ":::", "a")
    assert result.status == 127 and "sh -c" in result.text, result


@pytest.mark.parametrize("args,said", [
    ([], "no command"), ([":::", "a"], "no command"), (["--resume", "true"], "--joblog"), (["--retries", "0", "true"], "--retries"),
    (["--halt", "sometimes", "true"], "now,fail=1"), (["-j", "many", "true"], "--jobs"), (["-d", "ab", "true"], "--delimiter"),
    (["--timeout", "x%", "true"], "--timeout"), (["true", "::::", "absent"], "absent"), (["true", "::::", "/"], "folder"),
    (["-X", "-m", "true"], "-X"), (["--pipe", "cat", ":::", "a"], "--pipe"), (["--pipe", "-X", "cat"], "--pipe"),
    (["--colsep", "a(", "echo"], "--colsep"), (["--colsep", ",*", "echo"], "--colsep"), (["--retry-failed"], "--joblog"), (["--pipe", "echo", "{##}"], "{##}"),
    (["--recend", "", "--pipe", "cat"], "--recend"), (["--results", "/no/such/folder/x.csv", "true", ":::", "a"], "/no/such/folder/x.csv"),
    (["echo", "{= $_ =}", ":::", "a"], "Perl"), (["-k", "-u", "true"], "--keep-order"),
    (["--joblog", "/no/such/folder/log", "true", ":::", "a"], "/no/such/folder/log"),
])
def test_a_wrong_call_is_told_in_one_sentence(bag, args, said):
    result = bag(*args)
    assert result.status == 125 and said in result.text and len(result.text.splitlines()) == 1, result


@pytest.mark.parametrize("option,said", [
    (["--memfree", "1G"], "--memory-limit"), (["--load", "80%"], "-j"), (["--progress"], "--bar"), (["-I", "@"], "{}"), (["-v"], "--dry-run"),
    (["--nice", "5"], "nice -n"), (["--sshlogin", ":"], "machine"), (["-S", ":"], "machine"), (["-L", "1"], "-N"), (["--tagstring", "x"], "--tag"),
    (["--halt-on-error", "1"], "--halt"), (["--wd", "/"], "cd"), (["--header", ":"], "{1}"),
], ids=str)
def test_what_gnu_parallel_has_and_vigil_has_not_is_said_with_what_there_is(bag, option, said):
    result = bag(*option, "echo", ":::", "a")
    assert result.status == 125 and said in result.text and len(result.text.splitlines()) == 1 and not result.out, result


def test_spellings_that_change_nothing_are_taken(bag):
    for option in (["-P", "2"], ["--max-procs", "50%"], ["-r"], ["--no-run-if-empty"], ["--will-cite"], ["-P2"]):
        result = bag(*option, "echo", ":::", "a")
        assert (result.status, result.out, result.err) == (0, b"a\n", b""), result
    result = bag("-j", "2", "-P", "3", "echo", ":::", "a")
    assert result.status == 125 and "-P" in result.text, result


def test_a_line_of_shell_is_told_once_how_to_be_written(bag):
    many = [str(i) for i in range(200)]
    for command in (["echo {} | cat"], ["cat /etc/{}"]):
        result = bag(*command, ":::", *many)
        assert result.status == 127 and result.err.count(b"sh -c") == 1 and len(result.text.splitlines()) == 1, result
    for lines in ([":::", "echo a", "echo b"], []):
        result = bag(*lines, input=b"echo a\necho b\n")
        assert result.status == 125 and "sh -c 'eval {}'" in result.text and len(result.text.splitlines()) == 1, result
    result = bag("-k", "sh", "-c", "eval {}", ":::", "echo a", "echo b | tr b c")
    assert (result.status, result.out, result.err) == (0, b"a\nc\n", b""), result


def test_a_program_in_a_folder_with_a_blank_is_no_line_of_shell(bag, tmp_path):
    (tmp_path / "my tools").mkdir()
    (tmp_path / "my tools/there").symlink_to("/bin/true")
    result = bag("my tools/{}", ":::", "missing", "there", "there")
    assert result.status == 1, result


@pytest.mark.parametrize("command,said", [
    (["echo", "{}", "|", "cat"], "'|'"), (["echo", "{}", ">", "{}.out"], "'>'"), (["true", "{}", "&&", "true"], "'&&'"),
    (["echo", "{}", "2>/dev/null"], "'2>/dev/null'"), (["echo", "{}", ">>log"], "'>>log'"), (["sh", "-c", "{}"], "eval"),
])
def test_what_a_shell_would_have_read_is_told_once(bag, command, said):
    result = bag("-k", *command, ":::", "true", "true")
    assert result.status == 0 and said in result.text and result.err.count(b"vigil:") == 1, result
    assert bag("-q", *command, ":::", "true", "true").err == b""
    assert bag("--quiet", *command, ":::", "true", "true").err == b""


def test_words_that_only_look_like_a_shells_are_nobodys(bag):
    for command in (["expr", "{}", "<", "b"], ["find", "{}", "-prune", "-exec", "true", ";"], ["echo", "{}", "a>b"], ["sh", "-c", "echo {} | cat"],
                    ["echo", "{}", "<none>", ">=2", "->"]):
        result = bag(*command, ":::", ".")
        assert result.err == b"", result


def test_inputs_of_any_bytes(bag):
    every = bytes(b for b in range(1, 256) if b != 10)
    result = bag("printf", "%s", input=every + b"\n")
    assert result.status == 0 and result.out == every, result
    result = bag("-0", "-k", "printf", "%s.", input=b"a\nb\0\xff\xfe\0\0")
    assert result.status == 0 and result.out == b"a\nb.\xff\xfe..", result
    result = bag("echo", input=b"a\0b\n")
    assert result.status == 125 and "-0" in result.text, result
    result = bag("echo", input=b"x" * 200_000)
    assert result.status == 125 and "128 KiB" in result.text, result


def test_no_inputs_run_nothing(bag):
    assert (bag("echo").out, bag("echo").status) == (b"", 0)
    assert (bag("echo", ":::").out, bag("echo", input=b"").status) == (b"", 0)


def test_tasks_start_before_the_inputs_have_ended(vigil, tmp_path):
    process = vigil.start("map", "--line-buffer", "echo", "got", stdin=subprocess.PIPE)
    process.stdin.write(b"one\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"got one\n"
    process.stdin.write(b"two")
    process.stdin.close()
    assert process.stdout.readline() == b"got two\n"
    assert process.wait(20) == 0


def test_order_is_kept_and_groups_are_whole(bag):
    script = "i={}; while [ $((i+=1)) -lt 400 ]; do echo {}; done; echo e{} >&2"
    result = bag("-k", "-j4", "sh", "-c", script, ":::", *map(str, range(40)))
    lines = result.out.split()
    groups = [line for i, line in enumerate(lines) if i == 0 or lines[i - 1] != line]
    assert groups == [str(i).encode() for i in range(40)] and result.status == 0
    assert sorted(result.err.split()) == sorted(f"e{i}".encode() for i in range(40))


def test_what_a_task_left_behind_ends_with_it(bag, tmp_path):
    result = bag("sh", "-c", "sleep 1000 & echo $! > {}.pid", ":::", "a", "b")
    assert result.status == 0, result
    for name in "ab":
        pid = int((tmp_path / f"{name}.pid").read_text())
        wait_for(lambda: not os.path.exists(f"/proc/{pid}"), what=f"the end of what task {name} left")


def test_the_first_signal_asks_and_the_second_kills(vigil, tmp_path):
    script = "trap 'echo asked > asked' TERM; echo > ready; while :; do sleep 0.1; done"
    process = vigil.start("map", "sh", "-c", script, ":::", "x", cwd=tmp_path)
    wait_for((tmp_path / "ready").exists)
    process.send_signal(signal.SIGINT)
    wait_for((tmp_path / "asked").exists)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130
    assert b"asked to end" in process.stderr.read()


@pytest.mark.parametrize("limit", ["-n 44", "-n 40", "-n 34", "-n 28", "-n 24"])
def test_few_descriptors_are_no_error_and_leave_no_group(bag, limit):
    """-j0 asks for more tasks at a time than there are descriptors for."""
    name = f"few{os.getpid()}x{time.monotonic_ns()}"
    result = bag("--name", name, "-j0", "-k", "sh", "-c", "sleep 0.1; echo {}", ":::", *map(str, range(60)), prefix=("sh", "-c", f'ulimit {limit}; exec "$@"', "sh"))
    assert result.status == 0 and result.out.split() == [str(i).encode() for i in range(60)], result
    assert not list(pathlib.Path("/sys/fs/cgroup").glob(f"**/vigil-{name}*"))


def test_a_signal_that_is_ignored_stays_ignored(vigil, tmp_path):
    """nohup has SIGHUP ignored by all that it starts."""
    process = vigil.start("map", "sh", "-c", "echo > started; while [ ! -e go ]; do sleep 0.05; done", ":::", "x", cwd=tmp_path,
                          prefix=("nohup",))
    wait_for((tmp_path / "started").exists)
    process.send_signal(signal.SIGHUP)
    (tmp_path / "go").touch()
    assert process.wait(20) == 0


def test_a_reader_that_leaves_ends_the_bag(vigil):
    process = vigil.start("map", "-j2", "yes", stdin=subprocess.PIPE)
    process.stdin.close()
    assert process.wait(20) == 0
    process = vigil.start("map", "-j2", "seq", ":::", *map(str, range(1, 2000)))
    process.stdout.read(10)
    process.stdout.close()
    assert process.wait(30) == 128 + signal.SIGPIPE


def test_a_reader_that_does_not_read_holds_nobody_up(vigil, tmp_path):
    """While output waits for its reader, time limits hold, and vigil can be told to end."""
    process = vigil.start("map", "-j2", "--timeout", "1", "--joblog", "log", "sh", "-c",
                          "if [ {} = b ]; then echo > started; sleep 600; else seq 100000; fi", ":::", "a", "b", cwd=tmp_path)
    wait_for((tmp_path / "started").exists)
    watched = psutil.Process(process.pid)

    def sleeps():
        return [c for c in watched.children(recursive=True) if c.status() != psutil.STATUS_ZOMBIE and c.name() == "sleep"]
    wait_for(sleeps)
    wait_for(lambda: not sleeps(), what="the end of the task that ran too long")
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) in (128 + signal.SIGTERM, 128 + signal.SIGINT)


def test_each_task_has_gpus_of_its_own(bag, tmp_path):
    script = ("for g in $(echo $CUDA_VISIBLE_DEVICES | tr , ' '); do mkdir $g.taken || exit 9; done; echo $CUDA_VISIBLE_DEVICES; sleep 0.05; "
              "for g in $(echo $CUDA_VISIBLE_DEVICES | tr , ' '); do rmdir $g.taken; done")
    result = bag("-j8", "--gpus-per-task", "2", "sh", "-c", script, ":::", *map(str, range(12)),
                 env={"CUDA_VISIBLE_DEVICES": "3,1,GPU-5f,7,2"})
    assert result.status == 0, result
    assert set(result.out.split()) == {b"3,1", b"GPU-5f,7"}
    few = bag("--gpus-per-task", "3", "true", ":::", "a", env={"CUDA_VISIBLE_DEVICES": "0,1"})
    assert few.status == 125 and "2 GPUs are found" in few.text and len(few.text.splitlines()) == 1, few
    none = bag("--gpus-per-task", "1", "true", ":::", "a", env={"CUDA_VISIBLE_DEVICES": ""})
    assert none.status == 125, none


def left_of(vigil, tmp_path, *args, **kwargs):
    """What the bar said was left, in ms, of the last state of the bag that it showed: "2 of 3 done"."""
    ours, theirs = pty.openpty()
    process = vigil.start("map", "--eta", *args, stderr=theirs, **kwargs)
    os.close(theirs)
    seen = b""
    try:
        while more := os.read(ours, 4096):
            seen += more
    except OSError:
        pass
    os.close(ours)
    assert process.wait(20) == 0
    return [float(n) * {b"ms": 1, b"s": 1000}[unit] for n, unit in re.findall(rb"2 of 3 done[^\r]*?([\d.]+) (ms|s) left", seen)]


def test_the_time_that_is_left_falls_while_the_last_task_runs(vigil, tmp_path):
    left = left_of(vigil, tmp_path, "-j2", "sleep", ":::", "1.5", "1.5", "1.5")
    assert len(left) >= 2 and left == sorted(left, reverse=True) and 700 < left[0] <= 1700, left


def test_of_a_task_that_runs_longer_than_all_before_it_no_time_is_told(vigil, tmp_path):
    left = left_of(vigil, tmp_path, "-j3", "sleep", ":::", "0.2", "0.2", "1.5")
    # on a busy machine those before it may have taken a little longer than it has run when they are done
    assert len(left) <= 1 and sum(left) < 300, left


def test_who_types_inputs_is_told_that_they_are_waited_for(vigil):
    ours, theirs = pty.openpty()
    process = vigil.start("map", "echo", stdin=theirs, stderr=theirs)
    os.close(theirs)
    said = b""
    while b"\n" not in said:
        said += os.read(ours, 4096)
    assert b":::" in said and b"Ctrl-D" in said, said
    os.write(ours, b"one\n\x04")
    assert process.wait(20) == 0 and process.stdout.read() == b"one\n"
    os.close(ours)


def test_the_bar_is_for_terminals_and_leaves_no_trace(vigil):
    ours, theirs = pty.openpty()
    process = vigil.start("map", "--bar", "-j1", "sh", "-c", "sleep 0.3; echo {}", ":::", "a", "b", "c", stderr=theirs)
    os.close(theirs)
    seen = b""
    while True:
        try:
            more = os.read(ours, 4096)
        except OSError:
            break
        if not more:
            break
        seen += more
    os.close(ours)
    assert process.wait(20) == 0 and process.stdout.read() == b"a\nb\nc\n"
    assert re.search(rb"33% 1 of 3 done, 1 running, .* left", seen), seen
    assert seen.endswith(b"\r\x1b[K") and b"\n" not in seen
    quiet = vigil("map", "--bar", "--eta", "echo", ":::", "a")
    assert quiet.err == b"" and quiet.out == b"a\n"
