"""vigil map: joblogs, and runners that are killed."""
import os
import random
import signal
import subprocess

import pytest

from conftest import wait_for


def rows(path):
    if not path.exists():
        return []
    lines = path.read_text().split("\n")
    return [line.split("\t") for line in lines[1:-1]]


def running(marker):
    """Processes whose arguments have this in them."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if marker.encode() in f.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def test_only_what_the_joblog_does_not_name_is_run(vigil, tmp_path):
    script = "echo {}; exit {}"
    first = vigil("map", "-k", "--joblog", "log", "sh", "-c", script, ":::", "0", "1", "0", cwd=tmp_path)
    assert (first.status, first.out) == (1, b"0\n1\n0\n")
    again = vigil("map", "-k", "--joblog", "log", "--resume", "sh", "-c", script, ":::", "0", "1", "0", "0", cwd=tmp_path)
    assert (again.status, again.out) == (0, b"0\n")
    failed = vigil("map", "-k", "--joblog", "log", "--resume-failed", "sh", "-c", script, ":::", "0", "1", "0", "0", cwd=tmp_path)
    assert (failed.status, failed.out) == (1, b"1\n")
    names = [c[0] for c in rows(tmp_path / "log")]  # in the order of their ends
    assert sorted(names[:3]) == ["1", "2", "3"] and names[3:] == ["4", "2"]
    anew = vigil("map", "--joblog", "log", "true", ":::", "x", cwd=tmp_path)
    assert anew.status == 0 and len(rows(tmp_path / "log")) == 1


@pytest.mark.parametrize("text,said", [
    ("Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"
     "1\t:\t1.000\t0.1\t0\t0\t0\t0\techo b\n", "another run"),
    ("Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"
     "9\t:\t1.000\t0.1\t0\t0\t0\t0\techo a\n", "another run"),
    ("Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\nhello\n", "log:2"),
    ("some notes\nof mine\n", "no joblog"), ("some notes without an end", "no joblog"), ("\0\xff\n\0", "no joblog"),
])
def test_a_joblog_of_another_run_is_refused_in_one_sentence(vigil, tmp_path, text, said):
    (tmp_path / "log").write_text(text, encoding="latin-1")
    result = vigil("map", "--joblog", "log", "--resume", "echo", ":::", "a", cwd=tmp_path)
    assert result.status == 125 and said in result.text and "nothing was started" in result.text, result
    assert result.out == b"" and len(result.text.splitlines()) == 1, result
    assert (tmp_path / "log").read_text(encoding="latin-1") == text


def test_a_joblog_of_gnu_parallel_is_resumed(vigil, tmp_path):
    done = subprocess.run(["parallel", "-k", "--joblog", "log", "echo", ":::", "a b", "it's", "c"], cwd=tmp_path, capture_output=True,
                          timeout=60, check=True, stdin=subprocess.DEVNULL)
    result = vigil("map", "-k", "--joblog", "log", "--resume", "echo", ":::", "a b", "it's", "c", "d", cwd=tmp_path)
    assert result.status == 0 and done.stdout + result.out == b"a b\nit's\nc\nd\n", result


def test_a_line_that_was_cut_is_run_again(vigil, tmp_path):
    assert vigil("map", "-j1", "--joblog", "log", "echo", ":::", "a", "b", cwd=tmp_path).status == 0
    whole = (tmp_path / "log").read_bytes()
    (tmp_path / "log").write_bytes(whole[:-4])
    result = vigil("map", "-j1", "--joblog", "log", "--resume", "echo", ":::", "a", "b", cwd=tmp_path)
    assert result.out == b"b\n" and [c[0] for c in rows(tmp_path / "log")] == ["1", "2"], result


def test_two_runners_of_one_joblog_exclude_each_other(vigil, tmp_path):
    first = vigil.start("map", "--joblog", "log", "sh", "-c", "echo > started; sleep 600", ":::", "x", cwd=tmp_path)
    wait_for((tmp_path / "started").exists)
    second = vigil("map", "--joblog", "log", "echo", ":::", "x", cwd=tmp_path)
    assert second.status == 125 and "in use" in second.text and second.out == b"", second
    first.terminate()
    first.communicate(timeout=30)


def test_tasks_of_a_runner_that_was_killed_end(vigil, tmp_path):
    marker = f"marker{os.getpid()}x{tmp_path.name}"
    script = f"setsid sh -c 'sleep 600; : {marker}' & sh -c 'sleep 600; : {marker}' & echo > $1; wait"
    process = vigil.start("map", "-j3", "sh", "-c", script, "sh", ":::", "a", "b", "c", cwd=tmp_path)
    wait_for(lambda: all((tmp_path / n).exists() for n in "abc") and len(running(marker)) >= 9, what="the tasks")
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    wait_for(lambda: not running(marker), what="the end of what the tasks forked")


def test_a_runner_killed_at_random_runs_every_task(vigil, tmp_path):
    """Each task notes its start and its end in a file of its own: none may run twice at once, and all are run to completion."""
    rng, n = random.Random(7), 60
    script = ('exec 9>>{}.lock; flock -n 9 || { echo twice > twice; exit 9; }; echo b >> {}.ran; sleep 0.0{}; '
              '(sleep 0.01; echo e >> {}.ran) & wait')
    command = ["map", "-j4", "--joblog", "log", "--resume", "sh", "-c", script, ":::", *(str(100 + i) for i in range(n))]
    kills = 0
    while kills < 20 and len(rows(tmp_path / "log")) < n:
        process = vigil.start(*command, cwd=tmp_path)
        want = len(rows(tmp_path / "log")) + rng.randint(0, 3)
        wait_for(lambda: len(rows(tmp_path / "log")) >= min(want, n) or process.poll() is not None, what="some tasks")
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
        kills += 1
    result = vigil(*command, cwd=tmp_path)
    assert result.status == 0, result
    assert kills >= 15 and not (tmp_path / "twice").exists()
    assert sorted(int(c[0]) for c in rows(tmp_path / "log")) == list(range(1, n + 1))  # each exactly once
    assert all(c[6:8] == ["0", "0"] for c in rows(tmp_path / "log"))
    for i in range(n):
        ran = (tmp_path / f"{100 + i}.ran").read_text().split()
        assert ran[-1] == "e" and ran[-2] == "b", f"task {i + 1}: {ran}"
