"""Who really grew: forks that share pages, workers that write to them, shared memory that stays, time to save."""
import json
import os
import pathlib
import sys

from guardkit import MIB, nobodys_vigil  # noqa: F401

PYTHON = sys.executable

FORKS = """
import mmap, os, sys, time
parent, forks, hold = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
block = mmap.mmap(-1, parent << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for at in range(0, parent << 20, 4096):
    block[at] = 1
time.sleep(1)
for n in range(forks):
    if os.fork() == 0:
        time.sleep(hold)
        os._exit(0)
print("ready", flush=True)
time.sleep(hold)
"""


def own_of(rows):
    return sum(p["own_bytes"] for p in rows)


def test_eight_forks_that_write_nothing_hold_together_what_the_job_holds(vigil):
    run = vigil.start("run", "--quiet", "--", PYTHON, "-c", FORKS, 1024, 8, 600)
    assert run.stdout.readline() == b"ready\n"
    rows = [json.loads(line) for line in vigil("ps", "last", "--json").out.splitlines()]
    assert len(rows) == 9
    assert 1000 * MIB < own_of(rows) < 1200 * MIB, rows
    view = vigil("mem", "last", "--json").json()
    assert 1000 * MIB < own_of(view["processes"]) < 1200 * MIB
    assert 1000 * MIB < view["jobs"][0]["own_bytes"] < 1200 * MIB
    roles = sorted(p["role"] for p in view["processes"])
    assert roles == ["main"] + 8 * ["worker"], "a fork is no loader"


def test_forks_that_write_nothing_are_no_reason_to_kill(nobodys_vigil, as_nobody):
    """Without a control group the job's limit is kept by what its processes hold, and pages that they share count once."""
    v = nobodys_vigil
    result = v("run", "--memory-limit", "700M", "--", PYTHON, "-c", FORKS, 400, 8, 8, prefix=as_nobody, cwd=v.folder, timeout=120)
    assert result.status == 0, result


# The second of four forks writes to the pages that it came with: it grows and its resident size does not.
COPIER = """
import mmap, os, sys, time
block = mmap.mmap(-1, 240 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for at in range(0, 240 << 20, 4096):
    block[at] = 1
time.sleep(1)
for n in range(4):
    if os.fork() == 0:
        if n == 1:
            open(sys.argv[1], "w").write(str(os.getpid()))
            for at in range(0, 240 << 20, 4096):
                block[at] = 2
                if at % (1 << 20) == 0:
                    time.sleep(0.1)
        time.sleep(600)
time.sleep(600)
"""


def test_a_fork_that_writes_to_its_parents_pages_is_who_grew(vigil, small_machine, tmp_path):
    result = vigil("run", "--grace", "0", "--", PYTHON, "-c", COPIER, tmp_path / "pid", box=small_machine(400), timeout=120)
    assert result.status == 137, result
    report = vigil.why()
    pid = int((tmp_path / "pid").read_text())
    grew = report["growers"][0]
    assert (grew["pid"], grew["role"]) == (pid, "worker"), report["growers"]
    assert grew["grown_bytes"] > 12 * MIB and grew["over_ms"] > 2000, grew  # seen for 2 s at least, at 8 to 10 MiB a second
    assert grew["growth_bytes_per_s"] < 20 * MIB, "about 10 MiB a second on an idle machine"
    assert f"pid {pid}" in report["summary"] and f"pid {pid}" in report["cause"]["text"]
    assert not any("data loader" in line for line in report["cause"]["advice"])
    assert own_of(p for p in report["top"] if p.get("role") in ("main", "worker")) < 480 * MIB, "shared pages count once"


# Bursts of 8 MiB on top of a slow leak: the rate is the leak's, over the time that it was seen.
BURSTS = """
import mmap, time
kept, began, made = [], time.monotonic(), 0
while True:
    kept.append(bytearray(b"1") * (2 << 20))
    made += 2
    time.sleep(max(0, began + made / 8 - time.monotonic()))
    if made % 8 == 0:
        bytearray(b"1") * (4 << 20)
"""


def test_growth_is_told_over_the_time_that_it_took(vigil, small_machine):
    result = vigil("run", "--grace", "0", "--", PYTHON, "-c", BURSTS, box=small_machine(192), timeout=120)
    assert result.status == 137, result
    memory = vigil.why()["memory"]
    assert 6 * MIB < memory["growth_bytes_per_s"] < 11 * MIB, memory
    assert memory["growth_over_ms"] > 5000


# Steps of 1 MB, 2.1 MB a second near the limit: by the last 50 ms it fills ten times as fast.
STEPS = """
import mmap, os, signal, sys, time
def save(number, frame):
    time.sleep(0.3)
    open(sys.argv[1], "a").write(f"saved by {os.getpid()}\\n")
    os._exit(143)
signal.signal(signal.SIGTERM, save)
blocks = []
def more(n):
    m = mmap.mmap(-1, n, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for page in range(0, n, 4096):
        m[page] = 1
    blocks.append(m)
more(255 << 20)
if os.fork() == 0:
    time.sleep(600)
time.sleep(4)  # the burst is no part of the slope any more
while True:
    more(1000000)
    time.sleep(0.45)
"""


def test_who_grows_in_steps_is_asked_too_and_its_workers_are_not(vigil, small_machine, tmp_path):
    box, saved = small_machine(300), tmp_path / "saved"
    result = vigil("run", "--grace", "2s", "--", PYTHON, "-c", STEPS, saved, box=box, timeout=120)
    assert result.status == 137, result
    report = vigil.why()
    assert saved.exists(), (report["action"], report["memory"], result.text)
    first = saved.read_text().splitlines()[0]
    assert first == f"saved by {report['victim']['pid']}", "its fork, which has the handler, is asked only when it is over"
    assert report["action"]["method"].startswith("SIGTERM")
    assert box.kernel_kills() == 0


LEAVER = """
import sys, time
name, mib = sys.argv[1], int(sys.argv[2])
with open(name, "wb") as f:
    for n in range(mib):
        f.write(b"1" * (1 << 20))
kept = []
time.sleep(2)
while True:
    kept.append(bytearray(b"1") * (1 << 20))
    time.sleep(0.05)
"""


def test_shared_memory_that_stays_is_named_and_not_said_to_be_back(vigil, small_machine):
    name = pathlib.Path(f"/dev/shm/vigil-test-left-{os.getpid()}")
    try:
        result = vigil("run", "--grace", "0", "--", PYTHON, "-c", LEAVER, name, 120, box=small_machine(256), timeout=120)
        assert result.status == 137, result
        report = vigil.why()
        (row,) = [s for s in report["shm"] if s["path"] == str(name)]
        assert row["left"] and not row.get("freed")
        assert report["memory"]["shm_left_bytes"] >= 120 * MIB
        assert str(name) in report["cause"]["text"]
        assert any(str(name) in line and "remove" in line for line in report["cause"]["advice"])
        text = vigil("why").out.decode()
        assert "its own memory back" in text and ", memory back" not in text
    finally:
        name.unlink(missing_ok=True)


CREEPER = """
import sys, time
kept = []
while True:
    kept.append(bytearray(b"1") * (1 << 20))
    time.sleep(0 if len(kept) < 150 else 0.25)
"""


def test_memory_that_runs_short_is_told_of_once_and_early(vigil, small_machine):
    result = vigil("run", "--grace", "0", "--warn-at", "0.8", "--", PYTHON, "-c", CREEPER, box=small_machine(200), timeout=120)
    assert result.status == 137, result
    assert result.err.count(b"memory runs short") == 1
    events = [json.loads(line) for line in vigil("events", "last", "--json").out.splitlines()]
    (warning,) = [e for e in events if e["kind"] == "memory_warning"]
    (kill,) = [e for e in events if e["kind"] == "memory_kill"]
    assert warning["time_unix_ms"] < kill["time_unix_ms"] - 500
    assert "Who grows most: pid" in warning["text"] and "it would be full in" in warning["text"]


def test_who_fills_memory_at_once_is_not_warned_of(vigil, small_machine):
    result = vigil("run", "--", PYTHON, "-c", "x = bytearray(b'1') * (1 << 30)", box=small_machine(200), timeout=60)
    assert result.status == 137, result
    assert b"memory runs short" not in result.err


# Two workers below a shell: "small" stands still, "large" grows.
PAIR = """
{python} -c '{code}' small 60 0 &
{python} -c '{code}' large 60 30 &
wait
"""
HOLD = """
import sys, time
kept = [bytearray(b"1") * (int(sys.argv[2]) << 20)]
time.sleep(1)
while True:
    time.sleep(1 / (float(sys.argv[3]) or 1))
    if float(sys.argv[3]):
        kept.append(bytearray(b"1") * (1 << 20))
"""


def pair_report(vigil, small_machine, *options):
    result = vigil("run", "--grace", "0", "--policy", "largest", *options, "--", "/bin/sh", "-c",
                   PAIR.format(python=PYTHON, code=HOLD), box=small_machine(256), timeout=120)
    return result, next(json.loads(p.read_text()) for p in sorted(vigil.state.glob("jobs/*/incidents/*.json")))


def test_who_is_preferred_goes_first(vigil, small_machine):
    result, report = pair_report(vigil, small_machine, "--prefer", "command:* small *")
    assert report["victim"]["own_bytes"] < 100 * MIB, report["candidates"]
    assert "--prefer names it" in report["policy"]["reason"]


def test_who_is_avoided_goes_when_nobody_else_is_left(vigil, small_machine):
    result, report = pair_report(vigil, small_machine, "--avoid", "command:* large *")
    assert report["victim"]["own_bytes"] < 100 * MIB, report["candidates"]
    # and then the avoided one, rather than the machine
    victims = [json.loads(p.read_text())["victim"]["own_bytes"] for p in vigil.state.glob("jobs/*/incidents/*.json")]
    assert max(victims) > 100 * MIB, victims


def test_a_dry_run_tells_whom_it_would_end_and_ends_nobody(vigil):
    code = "x = bytearray(b'1') * (200 << 20); import time; time.sleep(3)"
    result = vigil("run", "--dry-run", "--memory-limit", "128M", "--", PYTHON, "-c", code, timeout=60)
    assert result.status == 0, result
    assert result.err.count(b"dry run: ") == 1
    events = [json.loads(line) for line in vigil("events", "last", "--json").out.splitlines()]
    (would,) = [e for e in events if e["kind"] == "memory_dry_run"]
    assert "vigil would now end python" in would["text"]
    assert not [e for e in events if e["kind"] == "memory_kill"]
