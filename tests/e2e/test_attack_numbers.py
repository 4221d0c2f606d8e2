"""A number of a process that has ended is another user's by now: vigil of root does nothing to that one, and shows nothing of it."""
import os
import subprocess
import sys

import pytest

from conftest import wait_for
from strangerkit import ATTACKER, needs_root
from webkit import Server

LAST = "/proc/sys/kernel/ns_last_pid"
pytestmark = [needs_root, pytest.mark.skipif(not os.access(LAST, os.W_OK), reason="the next number of a process cannot be chosen here")]
# Rank 1 ends, rank 0 goes on.
RANKS = "import os, time\nif os.environ['RANK'] == '1':\n    print(os.getpid(), flush=True)\nelse:\n    time.sleep(600)\n"
SECRET = "import time\ndef secret_of_another_user():\n    print('ready', flush=True)\n    time.sleep(600)\nsecret_of_another_user()\n"


def said(vigil):
    return b"".join(log.read_bytes() for log in vigil.state.glob("jobs/*/attempt-0/rank-1.out")).strip()


def gone(pid):
    return not os.path.exists(f"/proc/{pid}")


@pytest.fixture
def with_number():
    """with_number(pid): a process of another user that has this number."""
    started = []

    def start(pid):
        for _ in range(200):
            with open(LAST, "w") as last:
                last.write(str(pid - 1))
            process = subprocess.Popen([sys.executable, "-c", SECRET], stdout=subprocess.PIPE, user=ATTACKER, group=ATTACKER, cwd="/")
            if process.pid == pid:
                started.append(process)
                assert process.stdout.readline() == b"ready\n"
                return
            process.kill()
            process.wait(10)
            process.stdout.close()
        pytest.skip("others take the number first")

    yield start
    for process in started:
        process.kill()
        process.wait(10)
        process.stdout.close()


def test_the_page_does_not_look_into_a_stranger_with_the_number_of_a_rank_that_ended(vigil, with_number):
    job = vigil.start("run", "--nproc", "2", "--", sys.executable, "-c", RANKS)
    pid = int(wait_for(lambda: said(vigil), 30, "the rank's number"))
    wait_for(lambda: gone(pid), 30, "the rank's end")
    server = Server(vigil)
    name = server.get("/api/v1/jobs").json()["jobs"][0]["id"]
    with_number(pid)
    for path in ("worker/traceback?pid=", "worker/cpu_profile?duration=1&pid=", "memory_profile?duration=1&leaks=1&pid="):
        answer = server.get(f"/{path}{pid}")
        assert answer.status == 403 and b"secret" not in answer.body, answer
    for kind in ("stack", "flame", "heap", "calls"):
        answer = server.ask("POST", "/api/v1/profiles", {"kind": kind, "job": name, "pid": pid, "seconds": 1})
        assert answer.status == 404, answer
    assert "vigil" not in open(f"/proc/{pid}/maps").read()
    job.terminate()
    vigil.finish(job, 30)
