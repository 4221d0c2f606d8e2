"""vigil map where memory is short: nothing is lost, what cannot run is named."""
import os
import pathlib
import sys
import time

import psutil

from conftest import wait_for

# Grows by 2 MiB a step to what it is told, holds that for a moment, and says how much it was.
GROW = """
import sys, time
need, held = int(sys.argv[1]), []
while len(held) < need // 2:
    held.append(b"x" * (2 << 20)); time.sleep(0.005)
time.sleep(0.2); print(need)
"""


def task(*extra):
    return [sys.executable, "-S", "-c", GROW, *extra]


def rows(path):
    return [line.split("\t") for line in path.read_text().splitlines()[1:]]


def own_bytes(process):
    """What a runner's tasks hold together."""
    total = 0
    for child in process.children(recursive=True):
        try:
            m = child.memory_info()
            total += m.rss - m.shared
        except psutil.NoSuchProcess:
            pass
    return total


def test_a_bag_that_does_not_fit_at_once_loses_no_task(vigil, tmp_path):
    needs = [60, 90, 150, 40, 120, 170, 50, 80, 110, 30, 160, 70]
    process = vigil.start("map", "-j8", "--memory-limit", "250M", "--joblog", "log", *task(), ":::", *map(str, needs), cwd=tmp_path)
    watched, most = psutil.Process(process.pid), 0
    while process.poll() is None:
        try:
            most = max(most, own_bytes(watched))
        except psutil.NoSuchProcess:
            break
        time.sleep(0.01)  # samples; the end of the process is waited for by poll()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert sorted(map(int, out.split())) == sorted(needs)
    assert sorted(int(c[0]) for c in rows(tmp_path / "log")) == list(range(1, 13))
    assert all(c[6:8] == ["0", "0"] for c in rows(tmp_path / "log"))
    assert most < 290 << 20, f"the tasks held {most >> 20} MiB together"


def test_a_task_that_is_too_big_is_named_and_the_others_end_well(vigil, tmp_path):
    result = vigil("map", "-j4", "-k", "--memory-limit", "120M", "--joblog", "log", "--retries", "3", *task(), ":::", "30", "400", "40",
                   cwd=tmp_path)
    assert result.status == 137 and result.out.split() == [b"30", b"40"], result
    assert "task 2 is too big" in result.text and "120 MiB" in result.text and "--memory-limit" in result.text, result
    assert {c[0]: c[6:8] for c in rows(tmp_path / "log")} == {"1": ["0", "0"], "2": ["-1", "9"], "3": ["0", "0"]}


FLAT = "import sys, time; held = b'x' * (int(sys.argv[1]) << 20); time.sleep(1); print(sys.argv[1])"


def test_what_was_learned_keeps_later_tasks_apart(vigil, tmp_path):
    """Two of these do not fit: after the first ones none is started that would have to be suspended."""
    result = vigil("map", "-j4", "--memory-limit", "120M", sys.executable, "-S", "-c", FLAT, ":::", *["90"] * 6, env={"VIGIL_DEBUG": "1"}, cwd=tmp_path)
    assert result.status == 0 and result.out.split() == [b"90"] * 6, result
    late = [line for line in result.text.splitlines() if "suspended" in line and int(line.split()[2]) > 4]
    assert not late, result


def test_a_task_that_stops_itself_is_ended_in_time(vigil):
    result = vigil("map", "--timeout", "1", "sh", "-c", "kill -STOP $$", ":::", "x")
    assert result.status == 1, result


def is_suspended(process):
    """Stopped, or frozen by its control group. One that ends meanwhile is not."""
    root = "/sys/fs/cgroup/unified" if os.path.isdir("/sys/fs/cgroup/unified") else "/sys/fs/cgroup"
    try:
        group = pathlib.Path(f"/proc/{process.pid}/cgroup").read_text().split("\n0::")[-1].split("\n")[0].removeprefix("0::")
        events = pathlib.Path(root + group + "/cgroup.events")
        return process.status() == psutil.STATUS_STOPPED or (events.exists() and "frozen 1" in events.read_text())
    except (OSError, psutil.NoSuchProcess):
        return False


HOLD = GROW.replace("time.sleep(0.2)", "time.sleep(600)")


def test_suspended_tasks_end_with_the_bag(vigil, tmp_path):
    process = vigil.start("map", "-j4", "--memory-limit", "130M", sys.executable, "-S", "-c", HOLD, ":::", "80", "80", "80", cwd=tmp_path)
    watched = psutil.Process(process.pid)
    stopped = wait_for(lambda: [c for c in watched.children() if is_suspended(c)], what="a suspended task")
    children = watched.children(recursive=True)
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 143 and stopped
    assert not [c for c in children if c.is_running() and c.status() != psutil.STATUS_ZOMBIE]
