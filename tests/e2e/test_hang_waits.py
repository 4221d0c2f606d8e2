"""Who waits for whom, in verdicts: jobs that talk over sockets, pipes and locks of their own."""
import contextlib
import os
import pathlib
import random
import re
import select
import socket
import sys

import psutil
import pytest

from conftest import wait_for
from hangkit import events, looks, need_bpf, shown, watcher_of

RING = '''
import fcntl, mmap, os, socket, struct, subprocess, sys, threading, time
SERVER = """
import select, socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
c = s.accept()[0]
select.select([s], [], [])
"""
RETRY = """
import socket, sys, time
while True:
    try:
        socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    except OSError:
        time.sleep(0.2)
"""
def look(flag):
    while flag[0] == 0:
        time.sleep(0.05)
lock = threading.Lock()
def keep(naps):
    lock.acquire()
    for _ in range(50 if naps else 1):
        time.sleep(0.5 if naps else 25)
    lock.release()
rank, world, base = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), int(sys.argv[1])
mine = socket.create_server(("127.0.0.1", base + rank))
while True:
    try:
        right = socket.create_connection(("127.0.0.1", base + (rank + 1) % world))
        break
    except OSError:
        time.sleep(0.05)
left = mine.accept()[0]
for step in range(100000):
    if step == 20 and sys.argv[2] == "circle":
        left.recv(1)
    if step == 20 and sys.argv[2] == "pipe beside a loop" and rank == 1:
        subprocess.Popen([sys.executable, "-c", RETRY, str(base + world)])
    if step == 20 and sys.argv[2].startswith("pipe") and rank == 1:
        ends = os.pipe()
        os.read(ends[0], 1)
    if step == 20 and sys.argv[2] == "server" and rank == 1:
        server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE)
        socket.create_connection(("127.0.0.1", int(server.stdout.readline()))).recv(1)
    if step == 20 and sys.argv[2].startswith("upgrade"):
        shared = open(sys.argv[2].partition(" ")[2], "a+")
        for kind in [fcntl.F_RDLCK, fcntl.F_WRLCK][:2 if rank < 2 else 1]:
            fcntl.fcntl(shared, fcntl.F_OFD_SETLKW, struct.pack("hhqqi4x", kind, 0, 0, 0, 0))
            right.send(b"x") + len(left.recv(1))
    if step == 0 and sys.argv[2].startswith("flag"):
        flag = mmap.mmap(os.open(sys.argv[2].partition(" ")[2], os.O_RDWR), 4096)
    if step == 20 and sys.argv[2].startswith("flag") and rank == 1:
        look(flag)
    if step == 20 and sys.argv[2].startswith("lock") and rank == 1:
        for _ in range(2):
            threading.Thread(target=lambda: threading.Event().wait(), daemon=True).start()
        threading.Thread(target=keep, args=(sys.argv[2] == "lock naps",), daemon=True).start()
        time.sleep(0.5)
        with lock:
            sys.exit(0)
    if step == 20 and sys.argv[2] == "sleep" and rank == 1:
        time.sleep(25)
        sys.exit(0)
    right.send(b"x")
    if left.recv(1) == b"":
        sys.exit(0)
    time.sleep(0.1)
    print(f"step {step} loss 0.5", flush=True)
'''


def ports(n):
    """The first of n free ports in a row."""
    while True:
        base = random.randrange(20000, 30000)
        try:
            for s in [socket.create_server(("127.0.0.1", base + i)) for i in range(n)]:
                s.close()
            return base
        except OSError:
            continue


def ring(vigil, what, needs="proof"):
    return vigil("run", "--nproc", 3, "--on-hang", "kill", "--on-hang-needs", needs, "--", sys.executable, "-c", RING, ports(3), what,
                 timeout=120)


def test_a_circle_of_sockets_is_proved_and_the_job_ended(vigil):
    result = ring(vigil, "circle")
    assert result.status == 124, result
    report = vigil.why()
    assert looks(report) == ("hang", "wait_circle", [0, 1, 2])
    assert report["cause"]["confidence"] == "high"
    assert "cannot go on by itself" in report["cause"]["text"]
    assert "→ rank" in report["cause"]["text"]


def test_who_looks_at_memory_that_nobody_changes_is_told_in_a_minute(vigil, tmp_path):
    need_bpf(vigil)
    (tmp_path / "flags").write_bytes(bytes(4096))
    result = ring(vigil, f"flag {tmp_path / 'flags'}", "medium")
    assert result.status == 124, result
    report = vigil.why()
    assert looks(report) == ("hang", "poll_loop", [1])
    assert report["hang"]["standstill_ms"] < 75_000
    assert "it looks at memory alone, and nobody is left who changes that" in report["cause"]["text"]


def test_an_address_that_is_tried_in_vain_is_evidence(vigil):
    need_bpf(vigil)
    result = ring(vigil, "pipe beside a loop", "medium")
    assert result.status == 124, result
    report = vigil.why()
    assert report["kind"] == "hang" and report["culprit_ranks"] == [1], report
    told = [e["text"] for e in report["evidence"] if "in vain" in e["text"]]
    assert len(told) == 1, shown(report)
    assert re.search(r"process \d+ of rank 1 tried \d+ times in vain to connect to 127.0.0.1:\d+, and it was refused", told[0])


def test_ranks_that_share_a_lock_and_both_want_it_alone_are_a_circle(vigil, tmp_path):
    result = ring(vigil, f"upgrade {tmp_path / 'index'}")
    assert result.status == 124, result
    report = vigil.why()
    assert looks(report) == ("hang", "wait_circle", [0, 1])
    assert report["cause"]["confidence"] == "high" and "cannot go on by itself" in report["cause"]["text"]


def test_who_keeps_the_only_writer_of_its_pipe_is_named_by_all_that_wait_for_it(vigil):
    result = ring(vigil, "pipe")
    assert result.status == 124, result
    report = vigil.why()
    assert looks(report) == ("hang", "orphaned_wait", [1])
    assert "read, empty pipe" in report["cause"]["text"] and "nobody is left" in report["cause"]["text"]
    assert "who waits for whom" in shown(report)


def test_who_waits_for_a_rank_that_sleeps_is_not_accused(vigil):
    result = ring(vigil, "sleep")
    assert result.status == 0, result
    assert not [e for e in events(vigil) if e["kind"] == "hang"]


@pytest.mark.parametrize("what", ["lock", "lock naps"])
def test_a_lock_of_a_thread_that_sleeps_beside_dead_ones_proves_nothing(vigil, what):
    result = ring(vigil, what)
    assert result.status == 0, result
    assert not [e for e in events(vigil) if e["kind"] == "hang"]


@pytest.mark.parametrize("needs", ["proof", "medium"])
def test_less_than_a_proof_ends_a_job_only_if_that_is_asked_for(vigil, needs):
    p = vigil.start("run", "--nproc", 3, "--hang-after", "5s", "--on-hang", "kill", "--on-hang-needs", needs, "--", sys.executable, "-c",
                    RING, ports(3), "server")
    told = wait_for(lambda: events(vigil, "hang"), 90, "the verdict")
    assert told
    if needs == "medium":
        assert vigil.finish(p).status == 124
        assert looks(vigil.why())[2] == [1]
        return
    report = vigil.why()
    assert looks(report)[0] == "hang" and looks(report)[2] == [1]
    assert p.poll() is None
    p.terminate()
    assert b"on less than a proof only if" in vigil.finish(p).err


LATER = "sleep 20; while ! test -e /nowhere-of-vigil; do sleep 0.3; done"


def programs_of(watcher):
    """How many BPF programs a process holds."""
    links = []
    for fd in pathlib.Path(f"/proc/{watcher}/fd").iterdir():
        with contextlib.suppress(OSError):
            links.append(os.readlink(fd))
    return links.count("anon_inode:bpf-prog")


def test_programs_of_the_kernel_are_loaded_once_a_job_does_something(vigil):
    """A sleeping job looks for nothing and is refused nowhere; one that begins to look later is seen to."""
    missing = [f["text"] for f in vigil("doctor", "--json").json()["findings"] if f["id"] in ("no-bpf", "no-wakers")]
    if missing:
        pytest.skip(f"the kernel permits no such BPF program here: {missing}")
    job = vigil.start("run", "--hang-after", "4s", "--", "sh", "-c", LATER)
    watcher = watcher_of(job)
    sleep = wait_for(lambda: next((c for c in psutil.Process(job.pid).children(recursive=True) if c.name() == "sleep"), None), 10)
    wait_for(lambda: events(vigil, "suspected") or not sleep.is_running(), 30, "the job to be suspected")
    assert sleep.is_running(), "it was not suspected while it slept"
    while sleep.is_running():
        assert programs_of(watcher) == 0
        select.select([], [], [], 0.05)
    wait_for(lambda: programs_of(watcher) > 0, 60, "programs that see what the loop looks for")


QUEUE = '''
import multiprocessing as mp, queue, sys, time
def make(q, to, fails):
    for n in range(to):
        q.put(n)
        time.sleep(0.1)
    sys.exit(fails)
def slow(q):
    time.sleep(30)
    q.put("late")
fork = mp.get_context("fork")
q = fork.Queue()
workers = [fork.Process(target=make, args=(q, 60, 1), daemon=True)]
if sys.argv[1] == "slow":
    workers.append(fork.Process(target=slow, args=(q,), daemon=True))
for worker in workers:
    worker.start()
step = 0
while True:
    try:
        if q.get(timeout=2) == "late":
            break
    except queue.Empty:
        continue
    print(f"step {step} loss 0.5", flush=True)
    step += 1
'''


def test_a_queue_whose_only_writer_has_failed_is_told(vigil):
    vigil.start("run", "--hang-after", "10s", "--", sys.executable, "-c", QUEUE, "alone")
    wait_for(lambda: events(vigil, "hang"), 90, "the verdict")
    report = vigil.why()
    assert looks(report)[:2] == ("hang", "abandoned_wait") and report["cause"]["confidence"] == "medium", report
    assert "left with status 1 when the job came to a stand" in report["cause"]["text"], report


def test_a_queue_with_a_slow_writer_beside_one_that_failed_is_left_alone(vigil):
    result = vigil("run", "--hang-after", "10s", "--", sys.executable, "-c", QUEUE, "slow", timeout=90)
    assert result.status == 0, result
    assert not events(vigil, "hang")


BAR = '''
import threading
class TMonitor(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.was_killed = threading.Event()
    def run(self):
        while not self.was_killed.is_set():
            self.was_killed.wait(10)
'''

BESIDE_A_BAR = '''
import threading, time
from tqdm import _monitor
_monitor.TMonitor().start()
lock = threading.Lock()
for step in range(100000):
    print(f"step {step} loss 0.5", flush=True)
    time.sleep(0.1)
    if step == 40:
        lock.acquire()
        lock.acquire()
'''


def test_the_thread_that_shows_a_bar_makes_nothing_that_is_waited_for(vigil, tmp_path):
    """A stand-in for tqdm's: the file's name and the function's are those of version 4."""
    (tmp_path / "tqdm").mkdir()
    (tmp_path / "tqdm" / "__init__.py").touch()
    (tmp_path / "tqdm" / "_monitor.py").write_text(BAR)
    vigil.start("run", "--", sys.executable, "-c", BESIDE_A_BAR, env={"PYTHONPATH": str(tmp_path)})
    wait_for(lambda: events(vigil, "hang"), 70, "the verdict, before the 80 s that any other thread would have")
    assert looks(vigil.why())[:2] == ("hang", "lock_wait"), vigil.why()


SILENT = '''
import queue, sys, time
def step():
    sum(range(200000))
    time.sleep(0.1)
began = time.monotonic()
while time.monotonic() - began < 24:
    step()
open(sys.argv[1], "w").write(str(time.time()))
queue.Queue().get()
'''


def test_a_job_that_prints_nothing_is_proved_soon_after_it_came_to_a_stand(vigil, tmp_path):
    """It was suspected, and looked at in vain, while it worked: its standstill begins with the end of that."""
    program = tmp_path / "silent.py"
    program.write_text(SILENT)
    stands = tmp_path / "stands"
    result = vigil("run", "--on-hang", "kill", "--", sys.executable, program, stands, timeout=120)
    assert result.status == 124, result
    report = vigil.why()
    told_s = report["time_unix_ms"] / 1000 - float(stands.read_text())
    assert "proved" in report["cause"]["text"] and told_s < 26, (told_s, report["cause"]["text"])
    assert abs(report["hang"]["standstill_ms"] / 1000 - told_s) < 4
