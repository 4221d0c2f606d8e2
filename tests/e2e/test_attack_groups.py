"""A control group that root's vigil watches, and whose users choose what is in it and below it."""
import os
import signal
import subprocess
import sys

import pytest

from conftest import wait_for
from strangerkit import ATTACKER, needs_root

pytestmark = needs_root


CROWD = """
import os, signal, sys
group, user, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
open(group + "/cgroup.procs", "w").write("0")
os.setgid(user)
os.setuid(user)
for _ in range(n - 1):
    if os.fork() == 0:
        signal.pause()
print("ready", flush=True)
signal.pause()
"""


@pytest.fixture
def crowd():
    """crowd(group, user, n): n processes of the user's in the group."""
    started = []

    def start(group, user, n=1):
        process = subprocess.Popen([sys.executable, "-S", "-c", CROWD, group, str(user), str(n)], stdout=subprocess.PIPE, start_new_session=True)
        started.append(process)
        assert process.stdout.readline() == b"ready\n"

    yield start
    for process in started:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)
        process.stdout.close()


def owner_by_vigil(vigil, group):
    watch = vigil.start("watch", "--cgroup", group)
    told = wait_for(lambda: (r := vigil("jobs", "--json")).status == 0 and r.out and r.json(), what="the job")
    watch.terminate()
    watch.wait(20)
    return told["uid"]


def test_who_is_in_the_group_itself_does_not_own_what_others_run_below(vigil, small_machine, crowd):
    """Whose job it is may read its reports, with the command lines and stacks of all."""
    group = small_machine(256).path
    below = group / "below"
    below.mkdir()
    crowd(below, ATTACKER + 1)
    if not (group / "cgroup.controllers").exists() or not (group / "cgroup.subtree_control").read_text().strip():
        crowd(group, ATTACKER)
    assert owner_by_vigil(vigil, group) in (0, ATTACKER + 1)


def test_a_crowd_is_of_its_user(vigil, small_machine, crowd):
    group = small_machine(512).path
    crowd(group, ATTACKER, 1100)
    assert owner_by_vigil(vigil, group) == ATTACKER
