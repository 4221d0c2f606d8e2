"""A control group that root's vigil watches, and whose users choose what is in it and below it."""
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from conftest import Box, wait_for
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


UNIFIED = next((pathlib.Path(f[1]) for line in pathlib.Path("/proc/mounts").read_text().splitlines() if (f := line.split())[2] == "cgroup2"), None)
# Where version 1 is mounted as well, vigil is shown version 2 alone.
AS_ONLY = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /sys/fs/cgroup && exec "$@"', str(UNIFIED)]
TURNS = """
import os, signal, sys
group, user = sys.argv[1], int(sys.argv[2])
open(os.path.dirname(group) + "/cgroup.procs", "w").write("0")
os.setgid(user)
os.setuid(user)
open(group + "/cgroup.type", "w").write("threaded")
open(group + "/cgroup.threads", "w").write("0")
print("ready", flush=True)
signal.pause()
"""


@pytest.mark.skipif(not UNIFIED or not os.access(UNIFIED, os.W_OK), reason="takes control groups of version 2")
def test_a_group_that_its_user_made_threaded_is_watched_on(vigil):
    """The kernel tells no processes of such a group, threads only."""
    top = UNIFIED / f"vigil-test-{os.getpid()}"
    group = top / "job"
    group.mkdir(parents=True)
    for path in (top, group):
        for file in (path, *path.glob("cgroup.*")):
            os.chown(file, ATTACKER, ATTACKER)
    user = subprocess.Popen([sys.executable, "-S", "-c", TURNS, group, str(ATTACKER)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        if user.stdout.readline() != b"ready\n":
            pytest.skip(user.stderr.read().decode(errors="replace"))
        prefix = [] if UNIFIED == pathlib.Path("/sys/fs/cgroup") else AS_ONLY
        watch = vigil.start("watch", "--cgroup", group.relative_to(UNIFIED), prefix=prefix)
        told = wait_for(lambda: (r := vigil("jobs", "--json")).status == 0 and r.out and r.json(), what="the job")
        time.sleep(1)
        assert watch.poll() is None and vigil("jobs", "--json").json()["state"] == "running"
        assert told["uid"] == ATTACKER
        assert str(user.pid).encode() in vigil("ps").out.split()
        watch.terminate()
        watch.wait(20)
    finally:
        user.kill()
        user.wait(10)
        wait_for(lambda: Box._rmdir(group) and Box._rmdir(top), what="the groups to be removable")


FILLS = """
import os, sys, time
open(sys.argv[1] + "/cgroup.procs", "w").write("0")
os.setgid(int(sys.argv[2]))
os.setuid(int(sys.argv[2]))
sys.stdin.readline()
held = []
while True:
    held.append(bytearray(1 << 20))
    time.sleep(0.01)
"""


def test_a_group_whose_name_begins_with_a_dot_hides_nobody(vigil, small_machine):
    """Who is not seen there is not ended when memory runs out: others are, or the kernel ends anybody."""
    group = small_machine(96)
    hidden = group.path / ".hidden"
    hidden.mkdir()
    user = subprocess.Popen([sys.executable, "-S", "-c", FILLS, hidden, str(ATTACKER)], stdin=subprocess.PIPE)
    try:
        watch = vigil.start("watch", "--cgroup", group.path)
        wait_for(lambda: (r := vigil("jobs", "--json")).status == 0 and r.out and r.json(), what="the job")
        user.communicate(b"\n", timeout=30)
        told = wait_for(lambda: (r := vigil("why", "last", "--json")).status == 0 and r.json(), 10, "the report")
        assert told["killer"] == "vigil" and told["victim"]["pid"] == user.pid
        watch.terminate()
        watch.wait(20)
    finally:
        user.kill()
        user.wait(10)


WAITS = """
import os, sys
open(sys.argv[1] + "/cgroup.procs", "w").write("0")
sys.stdout.write("ready\\n")
sys.stdout.flush()
sys.stdin.read()
"""


def replaced(group):
    """The group is elsewhere by now, or gone, and another one is at its path."""
    try:
        os.rename(group, group.parent / "moved")
    except OSError:
        pytest.skip("groups keep their names here (version 2)")
    group.mkdir()


def test_who_is_in_a_later_group_of_the_same_path_is_not_ended_for_the_watched_one(vigil, small_machine):
    top = small_machine(512).path
    group = top / "job"
    group.mkdir()
    (group / "memory.limit_in_bytes").write_text(str(96 << 20))
    user = subprocess.Popen([sys.executable, "-S", "-c", FILLS, group, str(ATTACKER)], stdin=subprocess.PIPE)
    other = None
    try:
        watch = vigil.start("watch", "--cgroup", group)
        wait_for(lambda: (r := vigil("jobs", "--json")).status == 0 and r.out and r.json(), what="the job")
        wait_for(lambda: str(user.pid) in (group / "cgroup.procs").read_text(), what="the user's process in it")
        replaced(group)
        other = subprocess.Popen([sys.executable, "-S", "-c", WAITS, group], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert other.stdout.readline() == b"ready\n"
        user.communicate(b"\n", timeout=30)
        assert watch.wait(20) == 0  # the group that it was asked to watch is not there any more
        assert other.poll() is None
        assert vigil("jobs", "--json").json()["state"] == "done"
    finally:
        for process in filter(None, (user, other)):
            process.kill()
            process.communicate()
