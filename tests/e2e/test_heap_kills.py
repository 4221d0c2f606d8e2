"""Heap profiles of jobs that are ended for their memory: by vigil, by the kernel; the copy made before; many workers."""
import os
import pathlib
import signal
import struct

import pytest

import regionkit
from conftest import wait_for
from guardkit import memory_group

MIB = 1 << 20
PAGE = os.sysconf("SC_PAGESIZE")
GROWS = """
import sys, time
def grow_here(kept):
    block = bytearray(1 << 20)
    block[::4096] = b"x" * 256
    kept.append(block)
kept, limit, rate = [], int(sys.argv[1]), float(sys.argv[2])
begun = time.monotonic()
print("ready", flush=True)
while len(kept) < limit:
    grow_here(kept)
    time.sleep(max(0, len(kept) / rate - (time.monotonic() - begun)))
print("full", flush=True)
time.sleep(600)
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "grows.py"
    path.write_text(GROWS)
    return path


def profiles(vigil, where="heap"):
    return sorted(vigil.state.glob(f"jobs/*/attempt-*/{where}/*.heap"))


def live_of(file):
    """What lives by a copy or a profile: the samples that are in it, whatever its sums say."""
    return sum(live.weight for live in regionkit.Region(file).lives)


def test_the_report_of_vigils_kill_has_the_stack_that_grew_and_a_copy_of_before(vigil, script):
    result = vigil("run", "--heap", "--memory-limit", "192M", "--", "/usr/bin/python3", script, 1000, 40)
    assert result.status == 137, result
    report = vigil.why()
    assert report["kind"] == "memory_kill"
    top = report["heap"]["top"][0]
    assert any(f["name"] == "grow_here" and f["line"] == 4 for f in top["frames"]), report["heap"]
    assert 100 * MIB < top["bytes"] < 260 * MIB
    assert pathlib.Path(report["heap"]["file"]) in profiles(vigil)
    (copy,) = profiles(vigil, "heap/warn")
    (whole,) = profiles(vigil)
    assert copy.name == whole.name
    # the guard warns a second or so before it would be full, as it reckons
    assert 0.3 * live_of(whole) < live_of(copy) <= live_of(whole)
    shown = vigil("heap", copy, "--what", "live")
    assert shown.status == 0 and b"grow_here" in shown.out, shown
    said = vigil("why", "last").out
    assert report["heap"]["before"] == str(copy)
    assert b"grow_here" in said and b"whenmemorygotshort:vigilheap" in b"".join(said.split()), said


HALF = """
import mmap, sys, time
def untouched():
    return bytes(200 << 20)  # calloc of so much is memory that nobody has touched
def grow_here(kept):
    block = bytearray(1 << 20)
    block[::4096] = b"x" * 256
    kept.append(block)
kept, limit, rate = [untouched()], int(sys.argv[1]), float(sys.argv[2])
begun = time.monotonic()
while len(kept) < limit:
    grow_here(kept)
    time.sleep(max(0, len(kept) / rate - (time.monotonic() - begun)))
"""


def test_the_report_of_a_kill_tells_what_of_it_took_up_memory(vigil, tmp_path):
    """200 MiB are asked for and not touched: most of what was asked for, nothing of what was full."""
    script = tmp_path / "half.py"
    script.write_text(HALF)
    result = vigil("run", "--heap", "--memory-limit", "192M", "--", "/usr/bin/python3", script, 1000, 40)
    assert result.status == 137, result
    heap = vigil.why()["heap"]
    at = {line: next(t for t in heap["top"] if t["text"].startswith(f"half.py:{line} ")) for line in (4, 6)}
    assert at[4]["bytes"] > 190 * MIB and at[4]["resident_bytes"] < 10 * MIB, at[4]
    assert at[6]["bytes"] > 100 * MIB and at[6]["resident_bytes"] > 0.9 * at[6]["bytes"], at[6]
    assert 0.3 * heap["bytes"] < heap["resident_bytes"] < 0.7 * heap["bytes"] and heap["resident_unix_ms"] > 0, heap
    said = b" ".join(vigil("why", "last").out.split())
    assert b"untouched; about 0 B of it took up memory" in said or b"KiB of it took up memory" in said, said
    assert b"all of it took up memory" in said or b"MiB of it took up memory" in said, said
    shown = vigil("heap", "last", "--what", "live").out
    assert b"the part that was in memory when memory got short" in shown, shown


def test_a_job_that_only_comes_near_its_limit_has_a_copy_and_lives(vigil, script):
    running = vigil.start("run", "--heap", "--memory-limit", "256M", "--", "/usr/bin/python3", script, 225, 400)
    copy = wait_for(lambda: next(iter(profiles(vigil, "heap/warn")), None), 60, "the copy")
    wait_for(lambda: regionkit.Region(copy).samples > 0, 20, "a whole copy")
    assert running.poll() is None
    assert live_of(copy) > 50 * MIB
    running.send_signal(signal.SIGTERM)
    vigil.finish(running)


def test_after_a_control_groups_own_kill_the_profile_is_whole(vigil, script, small_machine):
    box = small_machine(160)
    result = vigil("run", "--heap", "--memory-threshold", "0", "--", "/usr/bin/python3", script, 1000, 400, box=box)
    assert result.status == 128 + signal.SIGKILL, result
    assert box.kernel_kills() >= 1
    report = vigil.why()
    assert report["kind"] in ("cgroup_oom", "kernel_oom")
    assert any(f["name"] == "grow_here" for f in report["heap"]["top"][0]["frames"]), report["heap"]
    (file,) = profiles(vigil)
    region = regionkit.Region(file)
    assert region.state == 1, "killed, and says so"
    kept = live_of(file)
    assert 60 * MIB < kept < 200 * MIB
    # a thread was between two additions at most
    assert abs(kept - region.live.bytes) <= 4 * MIB


def physical_pages(pid, start, end):
    """Numbers of the page frames that a process has mapped there."""
    with open(f"/proc/{pid}/pagemap", "rb") as f:
        f.seek(start // PAGE * 8)
        words = struct.unpack(f"={(end - start) // PAGE}Q", f.read((end - start) // PAGE * 8))
    return [w & ((1 << 55) - 1) for w in words if w >> 63]


@pytest.mark.skipif(os.geteuid() != 0 or not os.path.exists("/proc/kpagecgroup"), reason="the kernel does not say whose pages are")
def test_the_profiles_pages_are_on_the_jobs_account(vigil, script, small_machine):
    """Whoever touches a page of a file first pays for it: that is the job, and on a disk the kernel takes them back."""
    running = vigil.start("run", "--heap", "--", "/usr/bin/python3", script, 40, 400, box=small_machine(400))
    wait_for(lambda: b"full" in running.stdout.readline(), 60, "the job to be full")
    (file,) = profiles(vigil)
    pid = regionkit.Region(file).pid
    (row,) = [line for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines() if file.name in line]
    start, end = (int(a, 16) for a in row.split()[0].split("-"))
    pages = physical_pages(pid, start, end)
    assert len(pages) > 50
    with open("/proc/kpagecgroup", "rb") as f:
        def group(number):
            f.seek(number * 8)
            return struct.unpack("=Q", f.read(8))[0]
        owners = {group(number) for number in pages}
    assert owners == {os.stat(memory_group(pid)).st_ino}
    assert len(pages) * PAGE < 2 * MIB, "what a small program's profile takes"
    running.send_signal(signal.SIGTERM)
    vigil.finish(running)


WORKERS = """
import os, signal, sys
def load_here(n):
    return [bytearray(1 << 20) for _ in range(n)]
kept = load_here(16)
pids = []
for k in range(64):
    pid = os.fork()
    if pid == 0:
        mine = load_here(4 + k % 4)
        os.write(1, b"ready\\n")
        signal.pause()
    pids.append(pid)
signal.pause()
"""


def test_64_workers_each_have_a_profile_and_are_shown_as_one(vigil, tmp_path):
    path = tmp_path / "workers.py"
    path.write_text(WORKERS)
    running = vigil.start("run", "--heap", "--heap-rate", "64K", "--", "/usr/bin/python3", path)
    for _ in range(64):
        assert running.stdout.readline() == b"ready\n"
    report = vigil("heap", "last", "--what", "live", "--json").json()
    assert len(report["processes"]) == 65 and all(p["state"] == "running" for p in report["processes"])
    files = profiles(vigil)
    assert len(files) == 65
    regions = [regionkit.Region(f) for f in files]
    parent = [r for r in regions if r.ppid not in {x.pid for x in regions}]
    assert len(parent) == 1 and all(r.ppid == parent[0].pid for r in regions if r is not parent[0])
    # 16 MiB in the parent, 4 to 7 MiB in the workers; each block is a sample, so this is exact but for a millionth
    loaded = sum(s["bytes"] for s in report["stacks"] if any(f["name"] == "load_here" for f in s["frames"]))
    assert abs(loaded - (16 + 16 * (4 + 5 + 6 + 7)) * MIB) < 2 * MIB
    running.send_signal(signal.SIGTERM)
    vigil.finish(running)
    after = vigil("heap", "last", "--json").json()
    assert len(after["processes"]) > 10, "the ones with the highest peaks are kept"


CROWD = """
import os, time
for k in range(3):
    if os.fork() == 0:
        break
kept = []
while True:
    kept.append(bytes(b"x" * (1 << 20)))
    time.sleep(0.02)
"""


def test_the_report_of_a_unit_of_several_processes_has_the_sum_of_them(vigil, tmp_path):
    path = tmp_path / "crowd.py"
    path.write_text(CROWD)
    result = vigil("run", "--heap", "--memory-limit", "320M", "--", "/usr/bin/python3", path)
    assert result.status == 137, result
    heap = vigil.why()["heap"]
    assert heap["processes"] == 4 and heap["ended_processes"] >= 4 and "pid" not in heap, heap
    assert 180 * MIB < heap["bytes"] < 400 * MIB and "crowd.py:8" in heap["top"][0]["text"], heap
    said = vigil("why", "last").out
    assert b"in the heaps of 4 processes at their peaks came from crowd.py:8" in b" ".join(said.split()), said
    assert b"4 processes" in vigil("heap", heap["file"]).out
