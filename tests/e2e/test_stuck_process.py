"""A process whose memory lock never comes back holds nobody: not who reads, not who watches."""
import re
import signal
import subprocess
import sys
import time

import psutil
import pytest

from conftest import wait_for
from deadkit import dead_files  # noqa: F401

# A job that goes on, and starts what it is told to.
JOB = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
subprocess.Popen(sys.argv[1:])
kept = bytearray(30 << 20)
while True: time.sleep(0.1)
"""


# "process 7 does not answer", or "2 processes do not answer (7, 9)" where another test has one that stands as well.
NO_ANSWER = re.compile(r"process(?:es)? .*?not answer[^:]*")


def told_of(pid, text):
    found = NO_ANSWER.search(text)
    return bool(found) and re.search(rf"\b{pid}\b", found.group()) is not None


@pytest.fixture
def stuck(binary, dead_files):  # noqa: F811
    """stuck(): words of a program that stands in the kernel with its memory lock; it is let go at the end."""
    tool = binary.parents[2] / "tests/tool/holdlock"
    if not tool.exists():
        pytest.skip(f"{tool} is not built")
    made = []

    def words():
        made.append(dead_files("hard"))
        return [str(tool), "dead", str(made[-1])]
    yield words
    if made:
        dead_files.end()


def stands(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_DISK_SLEEP
    except psutil.NoSuchProcess:
        return False


def started(*words):
    job = subprocess.Popen([sys.executable, "-c", JOB, *words])
    child = wait_for(lambda: next(iter(psutil.Process(job.pid).children()), None), 20, "the child")
    wait_for(lambda: stands(child.pid), 20, "the child to stand")
    return job, child.pid


def ended(job):
    job.kill()
    job.wait(20)


def test_commands_that_read_leave_it_out_and_say_so(vigil, stuck):
    job, held = started(*stuck())
    try:
        for command in (["mem"], ["mem", job.pid], ["top", "--once"], ["gpus", job.pid]):
            begun = time.monotonic()
            result = vigil(*command, timeout=30)
            assert result.status == 0, (command, result)
            assert time.monotonic() - begun < 15, command
            if command[0] in ("mem", "top"):
                assert told_of(held, result.text), (command, result)
                assert command[0] == "top" or str(job.pid).encode() in result.out, "the others are told of"
        for command in (["protect", "--dry-run", job.pid], ["stack", job.pid], ["waits", job.pid], ["stack", held]):
            vigil(*command, timeout=30)  # whatever it says of the one that stands, it comes to an end
    finally:
        ended(job)


def test_one_of_no_job_shown_is_not_told_of(vigil, stuck):
    """What stands beside a job is no business of who asks for the job; what stands in it is."""
    stranger = subprocess.Popen(stuck())
    run = vigil.start("run", "--name", "beside", "--", sys.executable, "-c", "import sys, time\nprint('up', flush=True)\ntime.sleep(300)")
    try:
        wait_for(lambda: stands(stranger.pid), 20, "it to stand")
        wait_for(lambda: b"up" in vigil("logs", "beside", timeout=30).out, 30, "the job to run")
        for command in (["ps"], ["ps", "beside"], ["collectives", "beside"], ["gpus"], ["gpus", "beside"], ["mem", "beside"],
                        ["stack", "beside"], ["waits", "beside"]):
            result = vigil(*command, timeout=30)
            assert not NO_ANSWER.search(result.text), (command, result)
        assert told_of(stranger.pid, vigil("mem", timeout=30).text)
    finally:
        run.terminate()
        run.wait(30)
        stranger.kill()
        # it stands until its file is let go, at the end of the test


def test_one_of_the_job_shown_is_told_of(vigil, stuck):
    run = vigil.start("run", "--name", "within", "--", sys.executable, "-c", JOB, *stuck())
    try:
        wait_for(lambda: NO_ANSWER.search(vigil("ps", "within", timeout=30).text), 60, "ps to tell of it")
    finally:
        run.kill()
        run.wait(30)


def test_a_watch_beside_it_ends_when_it_is_told_to(vigil, stuck):
    job, held = started(*stuck())
    try:
        watch = vigil.start("watch", "--pid", job.pid)
        wait_for(lambda: b"job_adopted" in vigil("events", timeout=30).out, 30, "the job to be watched")
        begun = time.monotonic()
        while time.monotonic() < begun + 12:  # it is asked again after 5 s
            waiting = [p for p in psutil.process_iter(["name", "status", "ppid"]) if p.info["ppid"] == watch.pid and
                       p.info["name"] == "vigil-helper" and p.info["status"] == psutil.STATUS_DISK_SLEEP]
            assert len(waiting) <= 1, "one helper that waits for the lock is enough"
            time.sleep(0.2)
        begun = time.monotonic()
        watch.send_signal(signal.SIGTERM)
        assert watch.wait(15) == 0
        assert time.monotonic() - begun < 10
        assert stands(held)
    finally:
        ended(job)


# Starts what it is told to, and a hog after it.
FAMILY = """
import subprocess, sys, time
subprocess.Popen(sys.argv[1:])
time.sleep(3)
kept = []
while True: kept.append(b"x" * (1 << 20)); time.sleep(0.002)
"""


def test_a_kill_by_watch_beside_it_is_told_of(vigil, stuck):
    hog = subprocess.Popen([sys.executable, "-c", FAMILY, *stuck()])
    try:
        held = wait_for(lambda: next(iter(psutil.Process(hog.pid).children()), None), 20, "the child").pid
        watch = vigil.start("watch", "--pid", hog.pid, "--memory-limit", "150M")
        wait_for(lambda: b"memory_kill" in vigil("events", timeout=30).out, 40, "the kill to be told of")
        assert stands(held)
        watch.terminate()
        watch.wait(20)
    finally:
        ended(hog)


# Starts what it is told to, makes some steps, and then waits for itself.
HANGS = """
import subprocess, sys, threading, time
subprocess.Popen(sys.argv[1:])
for step in range(30):
    print("step", step, flush=True)
    time.sleep(0.1)
lock = threading.Lock()
lock.acquire()
lock.acquire()
"""


def test_a_hang_beside_it_is_told_of(vigil, stuck, dead_files):  # noqa: F811
    run = vigil.start("run", "--hang-after", "4s", "--", sys.executable, "-c", HANGS, *stuck(), stdout=subprocess.DEVNULL)
    try:
        wait_for(lambda: b"has been standing still" in vigil("events", timeout=30).out, 60, "the hang to be told of")
    finally:
        dead_files.end()
        run.terminate()
        run.wait(30)
