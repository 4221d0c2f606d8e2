"""vigil heap --what growth: where memory is touched for the first time, seen from outside, without a profile."""
import contextlib
import gzip
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

from conftest import wait_for

MIB = 1 << 20
GROWS = """
import os, sys, time
import numpy

def keeps(kept):
    kept.append(numpy.ones(1 << 21))  # 16 MiB, all of it written

def touches_nothing(empty):
    empty.append(numpy.empty(1 << 21))

def main():
    kept, empty = [], []
    os.write(1, b"ready %d\\n" % os.getpid())  # whole, where two ranks share a pipe
    while True:
        keeps(kept)
        touches_nothing(empty)
        if len(kept) > 12:
            kept.clear()
            empty.clear()
        time.sleep(0.02)
main()
"""
BOTH = """
import os, subprocess, sys
ranks = [subprocess.Popen([sys.executable, sys.argv[1]], env=dict(os.environ, RANK=str(r), LOCAL_RANK=str(r), WORLD_SIZE="2"))
         for r in range(2)]
for r in ranks:
    r.wait()
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "grows.py"
    path.write_text(GROWS)
    return path


@pytest.fixture
def pid(script):
    p = subprocess.Popen(["/usr/bin/python3", script], stdout=subprocess.PIPE)
    assert p.stdout.readline().startswith(b"ready")
    yield p.pid
    p.kill()
    p.wait(timeout=20)


def line_of(text):
    return next(n for n, line in enumerate(GROWS.splitlines(), 1) if text in line)


def grown(report, function):
    return sum(s["bytes"] for s in report["stacks"] if any(f["name"] == function for f in s["frames"]))


def test_the_line_that_touches_memory_is_named(vigil, pid):
    done = vigil("heap", pid, "--what", "growth", "-d", "2s", "--json")
    report = done.json()
    assert (report["what"], report["source"]) == ("growth", "faults") and report["total"]["bytes"] > 10 * MIB
    # Python is asked some microseconds after the fault: a part goes to the next line
    assert grown(report, "keeps") > 0.5 * report["total"]["bytes"], report["stacks"][:3]
    assert grown(report, "touches_nothing") < 0.1 * report["total"]["bytes"]
    assert report["stacks"][0]["text"].startswith(f"grows.py:{line_of('numpy.ones')} keeps")
    process, = report["processes"]
    assert process["pid"] == pid and 1.5 < process["seconds"] < 60 and "live" not in process
    # nothing is left behind: no tracer, no library, the same threads
    assert "TracerPid:\t0" in pathlib.Path(f"/proc/{pid}/status").read_text()
    assert "libvigil" not in pathlib.Path(f"/proc/{pid}/maps").read_text()


SLEEPS = """
import os, time
kept = []
def grow():
    kept.append(bytearray(500000))
print("ready", os.getpid(), flush=True)
while True:
    grow()
    time.sleep(0.02)
    if len(kept) > 200:
        kept.clear()
"""


def test_a_line_that_only_sleeps_is_not_named(vigil, tmp_path):
    """Python's frames are read when the fault is over: by then the thread often sleeps, and that line touched nothing."""
    script = tmp_path / "sleeps.py"
    script.write_text(SLEEPS)
    p = subprocess.Popen(["/usr/bin/python3", script], stdout=subprocess.PIPE)
    try:
        assert p.stdout.readline().startswith(b"ready")
        report = vigil("heap", p.pid, "--what", "growth", "-d", "3s", "--json").json()
    finally:
        p.kill()
        p.wait(timeout=20)
    total = report["total"]["bytes"]
    assert total > 20 * MIB
    sleeping = sum(s["bytes"] for s in report["stacks"] if any(f.get("line") == 9 for f in s["frames"]) and
                   not any(f["name"] == "grow" for f in s["frames"]))
    assert sleeping < 0.05 * total, report["stacks"]
    late = sum(s["bytes"] for s in report["stacks"] if "[Python had gone on]" in [f["name"] for f in s["frames"]])
    assert late + grown(report, "grow") > 0.9 * total, report["stacks"]
    assert not late or "had gone on" in report["remarks"][0], report


def test_it_has_the_forms_of_the_other_views(vigil, pid, tmp_path):
    table = vigil("heap", pid, "--what", "growth", "-d", "1s").out.decode()
    assert "memory touched for the first time" in table and re.search(r"/s  grows.py:\d+ keeps", table), table
    folded = vigil("heap", pid, "--what", "growth", "-d", "1s", "-f", "folded").out.decode()
    assert any("keeps" in line and int(line.rsplit(" ", 1)[1]) >= MIB for line in folded.splitlines()), folded
    for form, begin in (("svg", b"<?xml"), ("html", b"<!DOCTYPE"), ("pb.gz", b"\x1f\x8b")):
        path = tmp_path / f"growth.{form}"
        done = vigil("heap", pid, "--what", "growth", "-d", "0.5s", "-o", path)
        data = path.read_bytes()
        assert done.status == 0 and data.lower().startswith(begin.lower()), (done, data[:40])
        assert b"keeps" in (gzip.decompress(data) if form == "pb.gz" else data)


def test_ranks_of_a_job_are_told_apart(vigil, script, tmp_path):
    both = tmp_path / "both.py"
    both.write_text(BOTH)
    job = vigil.start("run", "--name", "grow", "--", "/usr/bin/python3", both, script)
    pids = {int(wait_for(job.stdout.readline, 60).split()[1]) for _ in range(2)}
    report = vigil("heap", "last", "--what", "growth", "-d", "2s", "--json").json()
    ranks = {p["rank"]: p for p in report["processes"] if p["pid"] in pids}
    assert sorted(ranks) == [0, 1] and all(p["total"]["bytes"] > 5 * MIB for p in ranks.values()), report["processes"]
    one = vigil("heap", "last", "--what", "growth", "-d", "1s", "--rank", "1", "--json").json()
    assert [p["rank"] for p in one["processes"]] == [1]
    table = vigil("heap", "last", "--what", "growth", "-d", "1s", "--rank", "0", "--diff", "1").out.decode()
    assert "compared with rank 1" in table, table


def test_ctrl_c_shows_what_was_seen(vigil, pid):
    watching = vigil.start("heap", pid, "--what", "growth", "-d", "10m", "--json")

    def watches():
        for fd in pathlib.Path(f"/proc/{watching.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                if "perf_event" in os.readlink(fd):
                    return True
        return False

    wait_for(watches, 60)
    watching.send_signal(signal.SIGINT)
    out, _ = watching.communicate(timeout=60)
    assert b'"growth"' in out and watching.returncode == 0


def test_what_cannot_be_watched_is_said_in_a_sentence(vigil, pid, script, tmp_path):
    done = vigil("heap", script, "--what", "growth")
    assert done.status == 2 and b"takes a JOB or PID that runs" in done.err
    done = vigil("heap", pid, "--what", "growth", "-d", "0s")
    assert done.status == 2 and b"--duration: expected" in done.err
    done = vigil("heap", pid, "--what", "growth", "-d", "0.1s", "--diff", tmp_path)
    assert done.status == 2 and b"between ranks only" in done.err
    done = vigil("heap", pid, "--what", "growth", "--attempt", "0")
    assert done.status == 2 and b"about the past" in done.err
    done = vigil("heap", 4194300, "--what", "growth")
    assert done.status == 4, done


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="takes root and setpriv")
def test_without_the_right_it_is_said_which_is_missing(binary, pid, tmp_path):
    drop = ["setpriv", "--reuid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
    done = subprocess.run([*drop, binary, "heap", str(pid), "--what", "growth", "--state", tmp_path / "none"], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 3 and "run vigil as root" in done.stderr and len(done.stderr.splitlines()) == 1, done
