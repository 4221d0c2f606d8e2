"""vigil flame: recordings of real programs in every form, and what may go wrong meanwhile."""
import json
import os
import re
import signal
import sys

import pytest

import pythons
from conftest import WORKLOADS, wait_for, workload

PYTHONS = pythons.find()
FORMATS = ["svg", "html", "folded", "speedscope", "pprof", "json"]


@pytest.fixture
def spin(begin):
    """A program that spends three quarters of its time in heavy() and one in light(), and says when it has begun."""
    def start(*args, python=None):
        script = WORKLOADS / "spin.py"
        return begin(script, *args, python=python) if python else begin(sys.executable, script, *args)
    return start


def folded(out):
    rows = {}
    for line in out.decode().splitlines():
        stack, count = line.rsplit(" ", 1)
        rows[stack] = int(count)
    return rows


def share(rows, name):
    total = sum(rows.values())
    return sum(n for stack, n in rows.items() if f"{name} (" in stack) / total


@pytest.mark.parametrize("python", PYTHONS, ids=str)
def test_time_is_where_it_was_spent(vigil, spin, python):
    process = spin(python=python)
    result = vigil("flame", process.pid, "-d", 2, "--rate", 200, "--format", "folded")
    assert result.status == 0, result
    rows = folded(result.out)
    assert sum(rows.values()) >= 100, result
    assert 0.60 < share(rows, "heavy") < 0.90, rows
    assert share(rows, "heavy") + share(rows, "light") > 0.95, rows
    assert all(re.search(r"spin\.py:\d+\)", stack) for stack in rows), rows
    assert "dropped" in result.text and "wrong" in result.text, result


@pytest.mark.parametrize("format", FORMATS)
def test_every_form_is_written(vigil, spin, format, tmp_path):
    process = spin()
    out = tmp_path / "out"
    result = vigil("flame", process.pid, "-d", 0.5, "--format", format, "-o", out)
    assert result.status == 0, result
    data = out.read_bytes()
    assert len(data) > (50 if format == "folded" else 100) # one stack alone, where the program had little of a processor
    begin = {"svg": b"<?xml", "html": b"<!DOCTYPE html>", "folded": b"", "speedscope": b"{", "pprof": b"\x1f\x8b", "json": b"{"}
    assert data.lstrip()[:20].lower().startswith(begin[format].lower()), data[:40]
    assert not [p for p in tmp_path.iterdir() if "part" in p.name]


def test_the_forms_name_of_the_output_decides(vigil, spin, tmp_path):
    process = spin()
    assert vigil("flame", process.pid, "-d", 0.2, "-o", tmp_path / "x.speedscope.json").status == 0
    assert "speedscope" in (tmp_path / "x.speedscope.json").read_text()[:300]
    assert vigil("flame", process.pid, "-d", 0.2, "-o", tmp_path / "x.json").status == 0
    assert json.loads((tmp_path / "x.json").read_text())["schema"] == "vigil.flame/1"


def test_a_sleeping_job_gives_its_waiting_picture(vigil, begin):
    process = begin(sys.executable, "-c", "import time\nprint('begun', flush=True)\ntime.sleep(1000)")
    wait_for(lambda: open(f"/proc/{process.pid}/stat").read().split(")")[1].split()[0] == "S")
    rows = folded(vigil("flame", process.pid, "-d", 0.5, "--format", "folded").out)
    assert any("waiting" in stack for stack in rows), rows
    # who counts samples of this form is told in it that they are not what was asked for
    assert all(stack.startswith("[nothing ran];") for stack in rows), rows
    rows = folded(vigil("flame", process.pid, "-d", 0.5, "--gil", "--format", "folded").out)
    assert rows and all(stack.startswith("[nothing held the GIL];") for stack in rows), rows


def test_holders_of_the_gil_have_their_threads_in_json(vigil, spin):
    process = spin()
    for by in ([], ["--by", "thread"]):
        j = vigil("flame", process.pid, "-d", 0.5, "--gil", *by, "--format", "json", "-o", "-").json()
        held = {n for n, node in enumerate(j["nodes"]) if node.get("gil_ns")}
        assert held and j["meta"]["gil"] is True if "gil" in j["meta"] else held
        assert [(lane["pid"], lane["tid"]) for lane in j["lanes"]] == [(process.pid, process.pid)], j["lanes"]


def test_ctrl_c_keeps_what_was_gathered(vigil, spin, tmp_path):
    process = spin()
    recorder = vigil.start("flame", process.pid, "-d", 60, "-o", tmp_path / "out.folded")
    wait_for(lambda: "vigil" in open(f"/proc/{recorder.pid}/comm").read())
    # It has begun when its CPU time grows: the recording loop is all it does.
    wait_for(lambda: sum(map(int, open(f"/proc/{recorder.pid}/stat").read().split()[13:15])) > 2, 20)
    recorder.send_signal(signal.SIGINT)
    result = vigil.finish(recorder, 20)
    assert result.status == 0, result
    assert folded((tmp_path / "out.folded").read_bytes())


def test_a_process_that_ends_meanwhile_ends_the_recording(vigil, spin):
    process = spin("--seconds", 1)
    result = vigil("flame", process.pid, "-d", 30, "--format", "folded", timeout=20)
    assert result.status == 0, result
    assert share(folded(result.out), "heavy") > 0.5


def test_processes_that_are_born_meanwhile_are_seen(vigil, begin):
    process = begin(sys.executable, "-u", "-c", "import subprocess, sys, time\nprint('begun', flush=True)\ntime.sleep(0.5)\n"
                    f"subprocess.run([sys.executable, {str(WORKLOADS / 'spin.py')!r}, '--seconds', '1.5'])\n")
    result = vigil("flame", process.pid, "-d", 3, "--format", "folded")
    assert share(folded(result.out), "heavy") > 0.4, result


def test_ranks_can_be_told_apart_and_compared(vigil, tmp_path):
    run = vigil.start("run", "--nproc", 2, "--name", "pair", "--", *workload("spin", "--by-rank"))
    begun = b""
    while begun.count(b"begun") < 2:
        begun += run.stdout.readline()
    record = tmp_path / "r.json"
    assert vigil("flame", "pair", "-d", 2, "-o", record).status == 0
    rows = folded(vigil("flame", record, "--by", "rank", "--format", "folded").out)
    assert {stack.split(";")[0].strip("[]") for stack in rows} == {"rank 0", "rank 1"}, rows
    zero = folded(vigil("flame", record, "--rank", 0, "--format", "folded").out)
    one = folded(vigil("flame", record, "--rank", 1, "--format", "folded").out)
    assert share(zero, "heavy") > 0.9 and share(one, "light") > 0.9, (zero, one)
    diff = vigil("flame", record, "--rank", 0, "--against", 1, "--format", "folded")
    assert diff.status == 0 and b"heavy" in diff.out and b"light" in diff.out
    run.send_signal(signal.SIGTERM)


@pytest.mark.parametrize("how", [["--rank", "x"], ["--rank", -1], ["--against", "NOFILE"], ["--against", "KEPT", "-f", "pprof"]], ids=str)
def test_what_cannot_be_shown_is_found_out_before_the_recording(vigil, spin, tmp_path, how):
    kept = tmp_path / "kept.folded"
    kept.write_text("a;b 3\n")
    words = {"NOFILE": tmp_path / "no-such-file", "KEPT": kept}
    result = vigil("flame", spin().pid, "-d", 3600, *[words.get(word, word) for word in how], timeout=20)
    assert result.status in (2, 4) and not result.out, result
    assert re.search("is no rank|are written as", result.text), result


@pytest.mark.parametrize("how", [["--rank", 7], ["--against", 7], ["--rank", 7, "--against", 0]], ids=str)
def test_a_rank_that_is_not_there_is_no_empty_picture(vigil, spin, tmp_path, how):
    result = vigil("flame", spin().pid, "-d", 0.1, "-f", "folded", "-o", tmp_path / "x.folded", *how)
    assert result.status == 1 and "no rank 7" in result.text and "has a rank" in result.text, result
    assert not (tmp_path / "x.folded").exists()


def test_ranks_that_are_there_are_named(vigil, tmp_path):
    record = tmp_path / "r.json"
    run = vigil.start("run", "--nproc", 2, "--name", "pair", "--", *workload("spin"))
    begun = b""
    while begun.count(b"begun") < 2:
        begun += run.stdout.readline()
    assert vigil("flame", "pair", "-d", 0.2, "-o", record).status == 0
    result = vigil("flame", record, "--rank", 2, "-f", "folded")
    assert result.status == 1 and "ranks from 0 to 1" in result.text and not result.out, result
    run.send_signal(signal.SIGTERM)


def test_when_nothing_holds_the_gil_what_runs_is_shown(vigil, begin):
    script = "import threading, zlib\ndef without_it():\n    data = bytes(1 << 26)\n    print('begun', flush=True)\n" \
             "    while True:\n        zlib.crc32(data)\n" \
             "def rests():\n    threading.Event().wait()\n" \
             "threading.Thread(target=rests, daemon=True).start()\nwithout_it()\n"
    record = vigil("flame", begin(sys.executable, "-c", script).pid, "-d", 0.5, "-f", "folded", "--gil")
    rows = folded(record.out)
    assert record.status == 0 and share(rows, "without_it") > 0.9, record
    if "nothing was seen to hold the GIL" in record.text: # else the short moment between two calls was met
        assert "what ran without it" in record.text and "nothing ran" not in record.text, record


def test_native_frames_are_merged(vigil, spin):
    process = spin("--native")
    result = vigil("flame", process.pid, "-d", 1, "--native", "--format", "folded")
    assert result.status == 0, result
    rows = folded(result.out)
    assert any("heavy (" in stack and re.search(r"\[lib[a-z0-9_.-]+\]|\[python", stack) for stack in rows), list(rows)[:5]


def test_the_interpreters_own_frames_are_left_out_unless_asked_for(vigil, spin, tmp_path):
    process = spin("--native")
    kept = tmp_path / "all.json"
    result = vigil("flame", process.pid, "-d", 0.5, "--native", "--plumbing", "-o", kept)
    assert result.status == 0, result
    own = re.compile(r"(?:_start|__libc_start_main|Py_BytesMain|Py_RunMain|_PyEval_EvalFrameDefault) \[(?:lib)?(?:python|c\.)")
    whole = vigil("flame", kept, "--plumbing", "--format", "folded")
    assert own.search(whole.out.decode()), whole
    for form in ("folded", "json", "html", "svg", "speedscope"):
        result = vigil("flame", kept, "--format", form, "-o", tmp_path / form)
        text = (tmp_path / form).read_text()
        assert result.status == 0 and "Py_RunMain" not in text and "__libc_start_main" not in text and "heavy" in text, form
    rows = folded((tmp_path / "folded").read_bytes())
    assert sum(rows.values()) == sum(folded(whole.out).values()), "all samples are still there"
    assert not [stack for stack in rows if own.search(stack)], rows


def test_output_that_cannot_be_written_is_one_sentence(vigil, spin, tmp_path):
    process = spin()
    result = vigil("flame", process.pid, "-d", 0.2, "-o", tmp_path / "no/such/dir/x.svg")
    assert result.status == 1 and "cannot write" in result.text, result
    result = vigil("flame", process.pid, "-d", 0.2, "-f", "svg", "-o", "/dev/full")
    assert result.status == 1 and "No space" in result.text, result


def test_output_that_cannot_be_written_is_found_out_before_the_recording(vigil, spin, tmp_path):
    process = spin()
    result = vigil("flame", process.pid, "-d", 3600, "-o", tmp_path / "no/such/folder.svg", timeout=20)
    assert result.status == 1 and "cannot write" in result.text, result
    kept = tmp_path / "kept.svg"
    kept.write_text("older")
    assert vigil("flame", process.pid + 100_000_000, "-o", kept).status == 4
    assert kept.read_text() == "older" and [f.name for f in tmp_path.iterdir() if f.is_file()] == ["kept.svg"]


def test_without_children_a_job_shows_each_rank_and_no_worker(vigil):
    script = "import os, time\nif not os.fork():\n    while True: time.sleep(0.01)\n\ndef main_of_rank():\n    while True: pass\n\n" \
             "main_of_rank()\n"
    job = vigil.start("run", "--name", "pair", "--nproc", 2, "--", sys.executable, "-c", script)

    def lanes(*options):
        result = vigil("flame", "pair", "-d", 0.3, "--idle", "--by", "process", "--format", "folded", *options)
        return {stack.split(";")[0] for stack in folded(result.out)} if result.status == 0 else set()
    wait_for(lambda: len(lanes()) == 4, what="two ranks and a worker of each")
    found = lanes("--no-children")
    assert len(found) == 2 and any("rank 0" in lane for lane in found) and any("rank 1" in lane for lane in found), found
    job.send_signal(signal.SIGTERM)


def test_wrong_calls_are_explained(vigil, tmp_path):
    assert vigil("flame", os.getpid(), "--rate", 0).status == 2
    assert vigil("flame", "no-such-job").status == 4
    damaged = tmp_path / "x.json"
    damaged.write_text('{"schema": "vigil.flame/1", "frames": 7')
    result = vigil("flame", damaged)
    assert result.status == 1 and "x.json" in result.text, result


def test_the_jobs_events_remember_that_it_was_looked_at(vigil):
    run = vigil.start("run", "--name", "seen", "--", *workload("spin"))
    wait_for(lambda: vigil("flame", "seen", "-d", 0.3, "--format", "folded").status == 0)
    assert b"profile" in vigil("events", "seen", "--json").out
    run.send_signal(signal.SIGTERM)
