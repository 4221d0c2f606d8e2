"""vigil map: what a task starts stays its own, whatever group, session, parent and environment it gives itself."""
import os
import pathlib
import signal
import sys
import time

import psutil
import pytest

from conftest import wait_for

UNIFIED = "/sys/fs/cgroup/unified" if os.path.isdir("/sys/fs/cgroup/unified") else "/sys/fs/cgroup"

pytestmark = pytest.mark.skipif(not os.access(os.path.join(UNIFIED, "cgroup.procs"), os.W_OK) or os.geteuid() != 0,
                                reason="no control group of version 2 can be made here")

# A daemon: a double fork into a session of its own without an environment, holding so many MiB.
DAEMON = """
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, "-S", "-c", '''
import sys, time
held = b"x" * (int(sys.argv[1]) << 20)
open(sys.argv[2] + ".new", "w").write(str(__import__("os").getpid()))
__import__("os").rename(sys.argv[2] + ".new", sys.argv[2])
time.sleep(1000)
''', sys.argv[1], sys.argv[2]], dict())
    os._exit(0)
os.wait()
import time
while not os.path.exists(sys.argv[2]): time.sleep(0.01)
"""


def groups(name):
    return [path for path in pathlib.Path(UNIFIED).iterdir() if path.name.startswith(f"vigil-{name}-")]


def daemon(mib, name, then):
    return [sys.executable, "-S", "-c", DAEMON + then, str(mib), name]


@pytest.fixture
def name():
    """Of the bag; no group of it may be left."""
    unique = f"groups{os.getpid()}x{time.monotonic_ns()}"
    yield unique
    wait_for(lambda: not groups(unique), what="the removal of the groups")


def ended(pid):
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_daemon_without_an_environment_ends_with_its_task(vigil, tmp_path, name):
    """The bag goes on: another task waits until the first one's daemon is gone."""
    wait = "while kill -0 $(cat one) 2> /dev/null; do sleep 0.02; done; echo gone"
    command = [sys.executable, "-S", "-c", DAEMON, "1", "one"]
    script = f"if [ {{}} = a ]; then exec \"$@\"; else while [ ! -e one ]; do sleep 0.02; done; {wait}; fi"
    result = vigil("map", "--name", name, "-j2", "--timeout", "20", "sh", "-c", script, "sh", *command, ":::", "a", "b", cwd=tmp_path)
    assert result.status == 0 and result.out == b"gone\n", result


def test_a_daemon_counts_as_memory_of_its_task(vigil, tmp_path, name):
    result = vigil("map", "--name", name, "--memory-limit", "100M", *daemon(300, "one", "\ntime.sleep(1000)"), ":::", "x", cwd=tmp_path)
    assert result.status == 137 and "task 1 is too big" in result.text, result


def test_a_daemon_is_suspended_with_its_task(vigil, tmp_path, name):
    """The newer task grows until memory is short, the older one holds what it has: no process of the newer one gets on, its daemon included."""
    grow = ("held = []\nimport time\nfor i in range(int(sys.argv[3])):\n    held.append(b'x' * (2 << 20)); time.sleep(0.02)\n"
            "while not os.path.exists('go'): time.sleep(0.02)\n")
    count = DAEMON.replace("time.sleep(1000)", "\nwhile True:\n    open(sys.argv[2] + '.beats', 'a').write('x'); time.sleep(0.01)")
    process = vigil.start("map", "--name", name, "-j2", "-k", "--memory-limit", "400M", sys.executable, "-S", "-c", count + grow, "1", "daemon{#}", "{}",
                          ":::", "60", "165", env={"VIGIL_DEBUG": "1"}, cwd=tmp_path)
    watched = psutil.Process(process.pid)
    wait_for(lambda: (tmp_path / "daemon2").exists(), what="the daemons")
    beats = tmp_path / "daemon2.beats"

    def frozen():
        return any("frozen 1" in (path / "2/cgroup.events").read_text() for path in groups(name))
    wait_for(frozen, deadline_s=60, what="a frozen group")
    seen = beats.stat().st_size
    first = (tmp_path / "daemon1.beats").stat().st_size
    wait_for(lambda: (tmp_path / "daemon1.beats").stat().st_size > first + 20, what="the other task's daemon")
    assert beats.stat().st_size == seen or not frozen()
    (tmp_path / "go").touch()
    assert process.wait(60) == 0, process.stderr.read()
    assert not watched.is_running()


@pytest.mark.parametrize("whom", ["runner", "runner and warden"])
def test_nothing_is_left_when_the_runner_is_killed(vigil, tmp_path, name, whom):
    process = vigil.start("map", "--name", name, "-j2", *daemon(1, "daemon{#}", "\ntime.sleep(1000)"), ":::", "a", "b", cwd=tmp_path)
    wait_for(lambda: (tmp_path / "daemon1").exists() and (tmp_path / "daemon2").exists(), what="the daemons")
    pids = [int((tmp_path / f"daemon{i}").read_text()) for i in (1, 2)]
    warden = [c for c in psutil.Process(process.pid).children() if "vigil" in c.name()]
    if whom != "runner":
        assert len(warden) == 1
        warden[0].suspend()  # so that it cannot act between the two kills
    process.send_signal(signal.SIGKILL)
    if whom != "runner":
        warden[0].kill()
    process.communicate(timeout=30)
    if whom != "runner":
        wait_for(lambda: ended(warden[0].pid), what="the end of the warden, which holds the note's lock until then")
        assert not all(map(ended, pids))
        assert vigil("ps", cwd=tmp_path).status == 0  # a vigil that comes later clears up
    wait_for(lambda: all(map(ended, pids)), what="the end of what the tasks left")
