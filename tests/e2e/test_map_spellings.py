"""vigil map: spellings of GNU parallel, each beside the original."""
import csv
import json
import os
import subprocess

import pytest

from conftest import wait_for
from mapkit import PARALLEL, parallel

pytestmark = pytest.mark.skipif(not PARALLEL, reason="GNU parallel is not installed")


@pytest.fixture
def bag(vigil, tmp_path):
    def run(*args, **kwargs):
        kwargs.setdefault("cwd", tmp_path)
        return vigil("map", *args, **kwargs)
    return run


@pytest.fixture
def both(bag, tmp_path):
    """Runs the same in both; what they print and their statuses are the same. ours: options that only vigil gets."""
    def run(*args, input=b"", ours=()):
        expected, status = parallel("-k", *args, cwd=tmp_path, input=input)
        result = bag("-k", *ours, *args, input=input)
        assert result.out == expected and result.status == status, f"{result}\nGNU parallel: {status} {expected}"
        return result
    return run


LINKED = [
    ["echo", "{1}-{2}", ":::", "a", "b", "c", ":::+", "1", "2", "3"], ["echo", "{1}-{2}", ":::", "a", "b", "c", ":::+", "1", "2"],
    ["echo", "{1}-{2}-{3}", ":::", "a", "b", ":::+", "1", "2", ":::", "X", "Y"], ["echo", "{1}-{2}-{3}", ":::", "X", "Y", ":::", "a", "b", ":::+", "1", "2"],
    ["echo", "{1}-{2}", "::::", "one", "::::+", "two"], ["echo", "{}", ":::", "a", "b", "::::+", "two", ":::+", "q", "r"],
    ["echo", "{}", ":::+", "a", "b"], ["-N2", "echo", ":::", "a", "b", "c", ":::+", "1", "2", "3"],
    ["--link", "echo", "{1}-{2}", ":::", "a", "b", "c", ":::", "1", "2"], ["--link", "echo", ":::", "a", "b", "c", ":::", "1", "2", ":::", "q"],
    ["--link", "-N2", "echo", ":::", "a", "b", "c", ":::", "1", "2"], ["--xapply", "echo", ":::", "a", "b", "c", ":::", "1"],
    ["--link", "echo", "{}", ":::", "a", "b", ":::+", "1", "2", ":::", "X", "Y", "Z"], ["-a", "one", "--link", "echo", ":::", "a", "b"],
]


@pytest.mark.parametrize("args", LINKED, ids=" ".join)
def test_linked_sources(both, tmp_path, args):
    (tmp_path / "one").write_bytes(b"1\n2 2\n\n3")
    (tmp_path / "two").write_bytes(b"x\ny\n")
    both(*args)


@pytest.mark.parametrize("args", [
    ["--colsep", "\\t", "echo", "[{1}]", "[{2}]", "[{}]", "::::", "table"], ["--colsep", "\\t", "echo", "::::", "table"],
    ["--colsep", ",", "echo", "{2}-{1}", ":::", "a,b", "c,d,e", "f"], ["-C", " +", "echo", "{2}-{1}", ":::", "a   b", " c d"],
    ["-C", ",", "-N2", "echo", "{1}/{2}/{3}/{4}", ":::", "a,b", "c,d", "e,f"], ["--colsep", ",", "echo", "{1}/{2}/{3}/{4}", ":::", "a,b", "c,d", ":::", "1,2", "3"],
    ["--colsep", "[,;]", "echo", "{1}/{2}/{3}", ":::", "a,b;c"], ["--colsep", ",", "echo", "{1}/{2}/{3}", ":::", "a,b,,", ",,x", ""],
    ["--colsep", "\\|", "echo", "{1}/{2}", ":::", "a|b"], ["--colsep", ",", "--link", "echo", "{1}/{2}/{3}/{4}", ":::", "a,b", "c,d", ":::", "1,2", "3,4"],
    ["--colsep", "\\s+", "echo", "{1}/{2}/{3}/{4}", ":::", " a  b", "c\td "], ["--colsep", ",", "--tag", "echo", ":::", "a,b", "c,d"],
    ["--colsep", ",", "echo", "x{}y", ":::", "a,b", "c"], ["--colsep", ",", "echo", "{-1}", "{1.}", "{2/}", ":::", "a.b,c/d"],
], ids=" ".join)
def test_columns(both, tmp_path, args):
    (tmp_path / "table").write_bytes(b"a\tb\nc\td e\n\n\tz\nq\n")
    both(*args)


def test_columns_of_a_stream(both):
    both("--colsep", ",", "echo", "{2}", "{1}", input=b"a,b\nc\n,d\n")


@pytest.mark.parametrize("args", [
    ["-j2", "-m", "echo"], ["-j1", "-m", "echo"], ["-j3", "-m", "echo"], ["-j2", "-m", "echo", "a{}b"], ["-j2", "-X", "echo", "a{}b"],
    ["-j2", "-X", "echo", "a{}b", "c{.}d"], ["-j2", "-X", "echo", "{}", "{/}"], ["-j2", "-m", "echo", "{}", "{/}"], ["-j2", "-X", "-N2", "echo", "a{}b"],
    ["-j2", "-X", "-n", "3", "echo", "a{}b"], ["-j1", "-X", "-s", "20", "echo", "a{}b"], ["-j1", "-m", "-s", "14", "echo"], ["-j1", "-X", "echo", "{}", "{#}"],
    ["-j2", "-X", "--tag", "echo"], ["-j2", "--xargs", "echo"], ["-j8", "-m", "echo"], ["-j2", "-X", "echo", "{1}", "{2}", "{3}"],
], ids=" ".join)
@pytest.mark.parametrize("how", ["words", "stream", "whole"])
def test_several_inputs_a_command(both, args, how):
    inputs = ["1.x", "d/2.y", "3", "4", "5"]
    if how == "words":
        both(*args, ":::", *inputs)
    else:
        both(*args, input="".join(f"{x}\n" for x in inputs).encode(), ours=["--bar"] if how == "whole" else [])


@pytest.mark.parametrize("args", [["-d", ",", "echo", "[{}]", ":::", "a,", "", ",b", "c,,d", ""], ["-N2", "echo", "{1}", "{2}", "x", ":::", "1", "2", "3"],
                                  ["echo", "{2}", "x{2}", ":::", "1"]], ids=" ".join)
def test_what_is_empty_and_what_is_missing(both, args):
    both(*args)


def test_words_of_many_inputs_are_parted(bag):
    """What a shell parts at blanks are words of their own here."""
    script = "for x; do echo \"<$x>\"; done"
    result = bag("-j1", "-m", "sh", "-c", script, "sh", "a{}b", ":::", "1 1", "2", "3")
    assert result.out == b"<a1 1>\n<2>\n<3b>\n", result
    result = bag("-j1", "-X", "sh", "-c", script, "sh", "a{}b", ":::", "1 1", "2")
    assert result.out == b"<a1 1b>\n<a2b>\n", result


def test_a_command_with_many_inputs_can_be_executed(bag):
    """Also in a script, where they are quoted."""
    lines = b"".join(b"an input's text %d\n" % i for i in range(40000))
    result = bag("-k", "-j3", "-X", "printf", "%s\\n", input=lines)
    assert result.status == 0 and result.out == lines, result
    result = bag("-k", "-j3", "-X", "sh", "-c", "printf '%s\\n' {}", input=lines)
    assert result.status == 0 and result.out == lines, result
    result = bag("-k", "-j3", "-X", "sh", "-c", "for x in {}; do printf '%s\\n' \"$x\"; done", input=lines)
    assert result.status == 0 and result.out == lines, result


SEQ = {n: "".join(f"{i}\n" for i in range(1, n + 1)).encode() for n in (5, 6, 100_000, 300_000)}


@pytest.mark.parametrize("args,input", [
    (["-N2", "cat"], SEQ[5]), (["md5sum"], SEQ[100_000]), (["md5sum"], SEQ[300_000]), (["--block", "256K", "md5sum"], SEQ[300_000]), (["-N", "100000", "md5sum"], SEQ[300_000]),
    (["-N1", "od", "-c"], b"a\nb\nc"), (["md5sum"], b""), (["-N2", "tee", "{#}.block"], SEQ[5]), (["-N2", "--tag", "cat"], SEQ[5]), (["-N2", "--recend", ";", "cat"], b"a;b;c;"),
    (["-N3", "--retries", "3", "sort", "-n"], SEQ[6]), (["-N2", "false"], SEQ[6]), (["-N2", "--dry-run", "cat"], SEQ[6]),
    (["-N2", "--recend", "ab", "cat"], b"1ab2abab3"), (["md5sum"], b"x" * 3_000_000),
], ids=lambda x: " ".join(x) if isinstance(x, list) else str(len(x)))
def test_blocks_of_a_stream(both, args, input):
    both("--pipe", *args, input=input)


def test_a_record_longer_than_a_block_is_whole(bag):
    text = b"x" * 100_000 + b"\n" + SEQ[100_000]
    result = bag("-k", "--pipe", "--block", "10K", "tail", "-c1", input=text)
    assert result.status == 0 and set(result.out.split()) == set() and result.out.count(b"\n") > 50, result
    result = bag("-k", "--pipe", "--block", "10K", "cat", input=text)
    assert result.out == text


def test_a_task_that_is_tried_again_has_its_block_again(bag, tmp_path):
    script = "cat > $PARALLEL_SEQ.$$; ls $PARALLEL_SEQ.* | wc -l | grep -q 2"
    result = bag("--pipe", "-N2", "--retries", "3", "--joblog", "log", "sh", "-c", script, input=SEQ[6])
    assert result.status == 0, result
    assert sorted(p.read_bytes() for p in tmp_path.glob("[123].*")) == sorted([b"1\n2\n", b"3\n4\n", b"5\n6\n"] * 2)
    rows = [line.split("\t") for line in (tmp_path / "log").read_text().splitlines()[1:]]
    assert {(c[0], c[4]) for c in rows} == {("1", "4"), ("2", "4"), ("3", "4")}


def test_blocks_are_given_before_the_stream_ends(vigil, tmp_path):
    process = vigil.start("map", "--pipe", "-N1", "--line-buffer", "cat", stdin=subprocess.PIPE, cwd=tmp_path)
    for line in (b"one\n", b"two\n"):
        process.stdin.write(line)
        process.stdin.flush()
        assert process.stdout.readline() == line
    process.stdin.close()
    assert process.wait(20) == 0


def test_only_blocks_that_the_joblog_does_not_name_are_run(bag):
    first = bag("-k", "--pipe", "-N2", "--joblog", "log", "sh", "-c", "! grep 3", input=SEQ[6])
    assert (first.status, first.out) == (1, b"3\n")
    again = bag("-k", "--pipe", "-N2", "--joblog", "log", "--resume-failed", "cat", input=SEQ[6] + b"7\n")
    assert again.out == b"3\n4\n7\n", again


def test_jobs_from_a_file(bag, both, tmp_path):
    (tmp_path / "jobs").write_text("1\n")
    both("-j", "jobs", "echo", "{%}", ":::", "1", "2", "3")
    wrong = bag("-j", "absent", "echo", ":::", "1")
    assert wrong.status == 125 and "absent" in wrong.text, wrong
    (tmp_path / "jobs").write_text("many\n")
    assert bag("-j", "jobs", "echo", ":::", "1").status == 125


def test_jobs_from_a_file_change_while_tasks_run(vigil, tmp_path):
    """The first task is alone; the others wait for each other, and so for the number that the first one wrote."""
    (tmp_path / "jobs").write_text("1\n")
    script = ("if [ {} = 1 ]; then echo 3 > jobs; else touch {}.here; while [ ! -e 2.here -o ! -e 3.here -o ! -e 4.here ]; do sleep 0.02; done; fi; "
              "echo {}")
    result = vigil("map", "-j", "jobs", "--timeout", "30", "sh", "-c", script, ":::", "1", "2", "3", "4", cwd=tmp_path)
    assert result.status == 0 and sorted(result.out.split()) == [b"1", b"2", b"3", b"4"], result


def log_rows(path):
    return [(c[0], c[6], c[7], c[8]) for c in (line.split("\t") for line in path.read_text().splitlines()[1:])]


def test_what_failed_is_run_again_by_the_joblog_alone(bag, tmp_path):
    inputs = ["0", "1", "2", "a b"]
    parallel("-j1", "--joblog", "theirs", "echo {}; exit {}", ":::", *inputs, cwd=tmp_path)
    (tmp_path / "ours").write_bytes((tmp_path / "theirs").read_bytes())
    expected, status = parallel("-k", "-j1", "--retry-failed", "--joblog", "theirs", cwd=tmp_path)
    result = bag("-k", "-j1", "--retry-failed", "--joblog", "ours")
    assert result.out == expected and result.status == status, result
    assert log_rows(tmp_path / "ours") == log_rows(tmp_path / "theirs")


def test_commands_of_our_own_joblog_are_the_same_words_again(bag, tmp_path):
    script = "printf '<%s>' \"$@\"; [ -e ok ]"
    first = bag("-k", "--joblog", "log", "sh", "-c", script, "sh", "{}", ":::", "a b", "it's", "x\ny", "{1}")
    assert first.status == 4
    (tmp_path / "ok").touch()
    again = bag("-k", "--retry-failed", "--joblog", "log", "ignored", ":::", "z")
    assert again.status == 0 and again.out == first.out == b"<a b><it's><x\ny><{1}>", again
    assert bag("--retry-failed", "--joblog", "log").out == b""


TABLE_INPUTS = ["0", 'a"b, c', "t\tt", "", "é", "x\ny"]
SCRIPT = 'printf "%s\\n" "$1$2"; echo "e$1" >&2; [ "$1" != 0 ]'


def without_times(rows):
    """Start and length differ, and the command is words here and a line of shell there."""
    return [[*row[:2], *row[4:8], *row[9:]] for row in rows]


@pytest.mark.parametrize("kind,delimiter", [("csv", ","), ("tsv", "\t")])
def test_results_as_a_table(bag, tmp_path, kind, delimiter):
    sources = [":::", *TABLE_INPUTS, ":::", "q"]
    (tmp_path / "task").write_text(f"#!/bin/sh\n{SCRIPT}\n")
    (tmp_path / "task").chmod(0o755)
    parallel("-k", "-d", "\\0", "--results", f"theirs.{kind}", "./task", *sources, cwd=tmp_path)
    result = bag("-k", "-d", "\\0", "--results", f"ours.{kind}", "./task", *sources)
    assert result.out == b"" and result.status == 1, result

    def rows(name):
        with open(tmp_path / f"{name}.{kind}", encoding="utf-8", newline="") as f:
            return list(csv.reader(f, delimiter=delimiter))
    assert without_times(rows("ours")) == without_times(rows("theirs"))
    assert rows("ours")[0] == rows("theirs")[0]
    assert len((tmp_path / f"ours.{kind}").read_bytes()) > 100


def test_results_as_json(bag, tmp_path):
    sources = [":::", *TABLE_INPUTS, ":::", "q"]
    (tmp_path / "task").write_text(f"#!/bin/sh\n{SCRIPT}\n")
    (tmp_path / "task").chmod(0o755)
    parallel("-k", "-d", "\\0", "--results", "theirs.json", "./task", *sources, cwd=tmp_path)
    assert bag("-k", "-d", "\\0", "--results", "ours.json", "./task", *sources).status == 1

    def rows(name):
        found = [json.loads(line) for line in (tmp_path / name).read_text(encoding="utf-8").splitlines()]
        return [{k: v for k, v in row.items() if k not in ("Starttime", "JobRuntime", "Command")} for row in found]
    assert rows("ours.json") == rows("theirs.json")
    binary = bag("--results", "-.json", "printf", "\\377\\000x", ":::", "a")
    assert json.loads(binary.out)["Stdout"] == "\ufffd\0x", binary


def test_a_table_on_stdout_and_one_that_goes_on(bag, tmp_path):
    result = bag("-k", "--results", "-.csv", "echo", ":::", "a", "b")
    assert [row.split(",")[0] for row in result.out.decode().replace('\n"', "").splitlines()] == ["Seq", "1", "2"], result
    assert bag("--joblog", "log", "--results", "r.csv", "echo", ":::", "a").status == 0
    assert bag("--joblog", "log", "--resume", "--results", "r.csv", "echo", ":::", "a", "b").status == 0
    with open(tmp_path / "r.csv", encoding="utf-8", newline="") as f:
        assert [row[0] for row in csv.reader(f)] == ["Seq", "1", "2"]
    piped = bag("--pipe", "-N3", "-k", "--results", "p.csv", "cat", input=SEQ[6])
    with open(tmp_path / "p.csv", encoding="utf-8", newline="") as f:
        assert [row[9:] for row in csv.reader(f)] == [["Stdout", "Stderr"], ["1\n2\n3\n", ""], ["4\n5\n6\n", ""]], piped


def test_a_table_that_cannot_be_written_ends_the_bag(bag, tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    os.symlink("/dev/full", tmp_path / "full.csv")
    result = bag("-j1", "--results", "full.csv", "sh", "-c", "echo {} >> ran", ":::", "a", "b", "c")
    assert result.status == 125 and "full.csv" in result.text and "No space left" in result.text, result
    assert (tmp_path / "ran").read_text() == "a\n"


def test_a_task_waits_for_no_block(vigil, tmp_path):
    """Nothing is read before a task can have it: a stream that does not end is no flood."""
    process = vigil.start("map", "--pipe", "-j1", "-N1", "sh", "-c", "cat; echo > started; sleep 600", stdin=subprocess.PIPE, cwd=tmp_path)
    process.stdin.write(b"1\n2\n")
    process.stdin.flush()
    wait_for((tmp_path / "started").exists)
    process.terminate()
    assert process.wait(30) == 143
