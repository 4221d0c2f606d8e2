"""A program of a user's that looks like a node of Ray, beside root's `vigil watch --ray`: what its files say is the user's word."""
import collections
import json
import os
import shutil
import subprocess
import time

import pytest

from conftest import wait_for
from strangerkit import ATTACKER, attacker, home, needs_root, place  # noqa: F401

pytestmark = needs_root

# Its worker's output lies where Ray's does, and so does the log that it writes of kills: one line for each number that it is given.
NODE = """
import ctypes, os, signal, sys, time
logs = os.getcwd() + "/session_2026-01-01/logs"
os.makedirs(logs)
out = os.open(logs + "/worker-" + "a" * 56 + "-01000000-1.out", os.O_WRONLY | os.O_CREAT)
log = open(logs + "/raylet.out", "w", buffering=1)
worker = os.fork()
if worker == 0:
    os.dup2(out, 1)
    os.dup2(out, 2)
    ctypes.CDLL(None).prctl(15, b"ray::A.f", 0, 0, 0)
    signal.pause()
print("ready", flush=True)
line = ("[x] Killing 1 worker(s), kill details: Memory on the node (IP: 1.2.3.4) was 24.0GB / 25.0GB (0.96); "
        "Selected to kill: (Task: x, task name=f, pid=%s, actual memory used=0.67GB, worker ID=" + "a" * 56 + ")\\n")
while True:
    for pid in sys.argv[1].split(","):
        log.write(line % pid)
    time.sleep(0.2)
"""
DEAD = ",".join(map(str, range(4190000, 4190040)))  # above what a kernel gives here, as those that have ended


@pytest.fixture
def node(vigil, home):  # noqa: F811
    """node(pids, n): the user's nodes, which say again and again that Ray has ended these; the watch has seen their logs."""
    started = []

    def start(pids, n=1):
        program, script = home / "raylet/raylet", home / "node.py"
        program.parent.mkdir()
        shutil.copy(os.path.realpath("/usr/bin/python3"), program)
        script.write_text(NODE)
        for i in range(n):
            folder = home / str(i)
            folder.mkdir()
            os.chown(folder, ATTACKER, ATTACKER)
            started.append(subprocess.Popen([program, script, pids], user=ATTACKER, group=ATTACKER, extra_groups=[], cwd=folder,
                                            stdout=subprocess.PIPE, start_new_session=True, env={"PATH": os.environ["PATH"]}))
            assert started[-1].stdout.readline() == b"ready\n"
        vigil.start("watch", "--ray", stderr=subprocess.DEVNULL)

    yield start
    for process in started:
        os.killpg(process.pid, 9)
        process.wait(10)
        process.stdout.close()


def events(vigil):
    return [json.loads(line) for line in vigil("events", "--json").out.splitlines()]


def reports(vigil):
    return [e["text"] for e in events(vigil) if "Ray's memory monitor" in e["text"]]


def test_a_log_that_tells_of_kills_without_end_does_not_fill_the_disk(vigil, node):
    node(DEAD)
    wait_for(lambda: any(e["kind"] == "reports_end" for e in events(vigil)), 30, "the end of the reports")
    time.sleep(2)
    of_jobs = collections.Counter(e["job"] for e in events(vigil) if "Ray's memory monitor" in e["text"])
    # the node of the other test may run beside it, and is watched as well
    assert of_jobs and max(of_jobs.values()) <= 34, of_jobs


def test_a_user_with_many_nodes_has_no_more_reports_for_it(vigil, node):
    node(DEAD, 4)

    def ends():
        return {e["job"] for e in events(vigil) if e["kind"] == "reports_end"}
    wait_for(lambda: len(ends()) >= 4, 40, "the end of the reports of all nodes")
    time.sleep(1)
    assert 64 <= len(reports(vigil)) <= 68, len(reports(vigil))


def test_a_users_log_makes_nobody_else_a_victim(vigil, node):
    other = subprocess.Popen(["sleep", "600"])
    try:
        node(f"{other.pid},4190001")
        wait_for(lambda: reports(vigil), 20, "a report")
        time.sleep(2)
        assert not [text for text in reports(vigil) if f"pid {other.pid})" in text]
    finally:
        other.kill()
        other.wait()
