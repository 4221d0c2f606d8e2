"""The guard waits for nobody: kills beside processes that hold their memory lock, a stopped supervisor, a full pipe, a locked store."""
import fcntl
import os
import signal
import struct
import sys
import time

import psutil
import pytest

from conftest import wait_for
from deadkit import dead_files  # noqa: F401
from guardkit import guard_of, hog  # noqa: F401

MIB = 1 << 20
# Waits for the word, then grows for ever.
GROW = """
import os, sys, time
while not os.path.exists(sys.argv[1]): time.sleep(0.01)
x = []
while True: x.append(b"x" * (1 << 20))
"""
# The same, after it has started another program: both are one unit, so both are victims.
FAMILY = "import subprocess, sys\nsubprocess.Popen(sys.argv[2:])\n" + GROW


@pytest.fixture
def holdlock(binary):
    tool = binary.parents[2] / "tests/tool/holdlock"
    if not tool.exists():
        pytest.skip(f"{tool} is not built")
    return lambda *args: [str(tool), *map(str, args)]


class Race:
    """A job that waits for the word, with a limit of 100 MiB; grow() lets it grow and wants it dead within 2 s."""

    def __init__(self, vigil, tmp_path):
        self.vigil, self.word = vigil, tmp_path / "go"

    def start(self, *command, script=GROW, **popen):
        self.process = self.vigil.start("run", "--retries", "0", "--grace", "0", "--memory-limit", "100M", "--",
                                        sys.executable, "-c", script, self.word, *command, **popen)
        self.guard = guard_of(self.process)
        self.job = wait_for(self.grower, 20, "the job")
        return self

    def grower(self):
        for child in psutil.Process(self.process.pid).children():
            if child.cmdline()[1:2] == ["-c"]:
                return child
        return None

    def grow(self):
        self.word.touch()
        wait_for(lambda: not self.job.is_running() or self.job.status() == psutil.STATUS_ZOMBIE or self.size() > 60 * MIB, 20,
                 "the job to grow")
        wait_for(lambda: not self.job.is_running() or self.job.status() == psutil.STATUS_ZOMBIE, 2, "the guard to end the job")
        ended = psutil.Process(self.process.pid).status() == psutil.STATUS_ZOMBIE  # by then the report is written
        assert not ended or self.vigil.why()["kind"] == "memory_kill", "it ends with the report, not before"

    def size(self):
        try:
            return self.job.memory_info().rss
        except psutil.NoSuchProcess:
            return 0


@pytest.fixture
def race(vigil, tmp_path):
    return Race(vigil, tmp_path)


def state_of(name):
    return [p for p in psutil.process_iter() if p.name() == name]


def child_called(race, name):
    return next((p for p in race.job.children(recursive=True) if p.name() == name), None)


def test_beside_a_member_whose_memory_lock_is_always_taken(race, holdlock):
    race.start(*holdlock("busy"), script=FAMILY)
    wait_for(lambda: child_called(race, "holdlock") and child_called(race, "holdlock").num_threads() > 6, 20, "the neighbour")
    race.grow()


def test_beside_a_member_whose_memory_lock_never_comes_back(race, holdlock, dead_files):
    race.start(*holdlock("dead", dead_files("hard")), script=FAMILY)
    wait_for(lambda: child_called(race, "holdlock") and child_called(race, "holdlock").status() == psutil.STATUS_DISK_SLEEP, 20,
             "the neighbour to stand")
    # it is looked at while nothing is short, too: the guard goes on
    beat = psutil.Process(race.guard).num_ctx_switches().voluntary
    wait_for(lambda: psutil.Process(race.guard).num_ctx_switches().voluntary > beat + 3, 20, "the guard to take samples")
    race.grow()
    assert guard_of(race.process) == race.guard, "no guard had to be replaced"
    dead_files.end()


def test_beside_a_stopped_supervisor(race):
    race.start()
    wait_for(lambda: b"job_start" in race.vigil("events").out, 20, "the guard to have been told of the job")
    race.process.send_signal(signal.SIGSTOP)
    try:
        race.grow()
    finally:
        race.process.send_signal(signal.SIGCONT)
    assert race.process.wait(20) == 137
    assert race.vigil.why()["kind"] == "memory_kill"


def test_beside_an_output_that_nobody_reads(race):
    script = "import sys\n" + GROW.replace("x = []", "import threading\nthreading.Thread(target=lambda: [print('y' * 1000) for _ in "
                                          "iter(int, 1)], daemon=True).start()\nx = []")
    race.start(script=script)
    race.grow()
    race.process.stdout.close()
    race.process.wait(20)


def test_beside_a_store_that_somebody_has_locked(race):
    race.start()
    wait_for(lambda: (race.vigil.state / "vigil.db-shm").exists(), 20, "the store")
    fd = os.open(race.vigil.state / "vigil.db-shm", os.O_RDWR)
    fcntl.fcntl(fd, fcntl.F_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 120, 8, 0))
    try:
        race.grow()
    finally:
        os.close(fd)
    assert race.process.wait(60) == 137


# Prints a line each 50 ms while a program that it has started stands; ends with 7 at SIGTERM. With the word it starts a hog.
TALK = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, lambda *_: (print("told to end", flush=True), os._exit(7)))
subprocess.Popen(sys.argv[3:])
grown = False
for i in range(10**9):
    print("line", i, time.monotonic(), flush=True)
    time.sleep(0.05)
    if not grown and os.path.exists(sys.argv[1]):
        grown = subprocess.Popen([sys.executable, "-c", sys.argv[2]])
"""
HOG = "import time\nx = []\nwhile True: x.append(b'x' * (1 << 20)); time.sleep(0.001)"


class Talk:
    """A job that prints beside a member whose memory lock never comes back, once that stands."""

    def __init__(self, vigil, tmp_path, member):
        self.word = tmp_path / "go"
        self.process = vigil.start("run", "--retries", "0", "--memory-limit", "200M", "--", sys.executable, "-c", TALK, self.word,
                                   HOG, *member)
        wait_for(self.stands, 20, "the neighbour to stand")

    def stands(self):
        return any(p.name() == "holdlock" and p.status() == psutil.STATUS_DISK_SLEEP
                   for p in psutil.Process(self.process.pid).children(recursive=True))

    def lag_s(self):
        """How old the next line that was not there yet is when it comes."""
        os.set_blocking(self.process.stdout.fileno(), False)
        while self.process.stdout.read(1 << 16):
            pass
        os.set_blocking(self.process.stdout.fileno(), True)
        self.process.stdout.readline()
        line = self.process.stdout.readline()
        return time.monotonic() - float(line.split()[2])


def answers_within(limit_s, what):
    """The answer of what(), which must come: a pipe that nothing comes through ends the test, not the run of all tests."""
    signal.signal(signal.SIGALRM, lambda *_: pytest.fail(f"nothing came within {limit_s} s"))
    signal.alarm(limit_s)
    try:
        return what()
    finally:
        signal.alarm(0)


def test_lines_and_signals_beside_a_member_whose_memory_lock_never_comes_back(vigil, tmp_path, holdlock, dead_files):
    talk = Talk(vigil, tmp_path, holdlock("dead", dead_files("hard")))
    # several samples of the timeline are taken meanwhile; each would stand
    begun = time.monotonic()
    while time.monotonic() < begun + 4:
        assert answers_within(20, talk.lag_s) < 5
    talk.process.send_signal(signal.SIGTERM)
    answers_within(20, lambda: next(line for line in talk.process.stdout if line == b"told to end\n"))
    dead_files.end()
    assert talk.process.wait(60) == 7


def test_a_kill_beside_a_member_whose_memory_lock_never_comes_back(vigil, tmp_path, holdlock, dead_files):
    talk = Talk(vigil, tmp_path, holdlock("dead", dead_files("hard")))
    talk.word.touch()
    wait_for(lambda: b"memory_kill" in vigil("events").out, 30, "the report of the kill")
    assert talk.stands(), "the report is written while the lock is held"
    report = vigil.why()
    assert "not ended yet" in report["retry"]["reason"], report["retry"]
    assert any("holdlock" in e["text"] and "memory lock" in e["text"] for e in report["evidence"]), report["evidence"]
    dead_files.end()
