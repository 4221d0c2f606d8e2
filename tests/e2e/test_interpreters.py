"""Code that runs in other interpreters of one process is shown, in the thread that runs it, on every CPython."""
import json
import subprocess

import pytest

import pythons
from conftest import WORKLOADS, end_tree, wait_for

PYTHONS = pythons.find()


@pytest.fixture
def started(request):
    running = []

    def start(python, mode, n=1, stands=True):
        script = python.place(WORKLOADS / "interpreters.py")
        process = subprocess.Popen([*python.argv, script, mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env=python.env(PYTHONDONTWRITEBYTECODE="1"))
        running.append(process)
        told = [json.loads(process.stdout.readline()) for _ in range(n)]
        # All stand in the read that follows the line.
        wait_for(lambda: not stands or all("read" in open(f"/proc/{process.pid}/task/{t['tid']}/wchan").read() for t in told))
        return process, told
    yield start
    for process in running:
        end_tree(process)
        process.wait(10)
        process.stdin.close()
        process.stdout.close()


def stacks(vigil, pid, *options):
    result = vigil("stack", pid, "--json", *options)
    assert result.status == 0, result
    return result.json()["processes"][0]["threads"]


def python_frames(thread):
    return [[f["name"], f["file"], f.get("line", 0)] for f in thread["frames"] if f["kind"] == "python"]


def check(thread, told):
    # The standard library's own frames are not in the program's account.
    library = "concurrent/interpreters/__init__.py"
    frames = [f for f in python_frames(thread) if not f[1].endswith(library)]
    assert frames[0][0] == "hold" and frames[1:] == told["stack"], (frames, told)
    labels = [f.get("interpreter") for f in thread["frames"] if f["kind"] == "python" and not f["file"].endswith(library)]
    assert labels == [told["interpreter"]] * (told["inner"] + 1) + [None] * (len(frames) - told["inner"] - 1)


@pytest.mark.parametrize("python", PYTHONS, ids=str)
@pytest.mark.parametrize("native", [False, True], ids=["python", "native"])
def test_a_thread_shows_the_other_interpreters_frames_above_those_that_ran_it(vigil, started, python, native):
    for mode in ["own", *(["module"] if python.version >= (3, 14) else [])]:
        process, [told] = started(python, mode)
        threads = [t for t in stacks(vigil, process.pid, *(["--native"] if native else [])) if python_frames(t)]
        assert [t["tid"] for t in threads] == [told["tid"]]
        check(threads[0], told)
        assert not threads[0].get("approximate"), threads[0]
        text = vigil("stack", process.pid).out.decode()
        assert text.count("[interpreter 1]") == told["inner"] + 1, text


@pytest.mark.parametrize("python", PYTHONS, ids=str)
def test_an_interpreter_in_which_nothing_runs_hides_no_other(vigil, started, python):
    process, [told] = started(python, "idle")
    threads = stacks(vigil, process.pid)
    assert [t["tid"] for t in threads] == [told["tid"]]
    frames = python_frames(threads[0])
    assert frames[0][0] == "hold" and frames[1:] == told["stack"], (frames, told)
    assert not any("interpreter" in f for f in threads[0]["frames"])


@pytest.mark.parametrize("python", PYTHONS, ids=str)
def test_interpreters_are_shown_in_the_threads_that_run_them_not_in_the_one_that_made_them(vigil, started, python):
    process, told = started(python, "threads", 2)
    threads = stacks(vigil, process.pid)
    inside = {"interpreter" in f for t in threads if t.get("tid") == process.pid for f in t["frames"]}
    assert inside == {False}, "the main thread made them and waits"
    for one in told:
        if python.version >= (3, 10):
            check(next(t for t in threads if t.get("tid") == one["tid"]), one)
            continue
        # 3.8 and 3.9 do not say which thread runs them: they are shown, and not put where they may not belong.
        alone = [t for t in threads if "tid" not in t and t["frames"][0].get("interpreter") == one["interpreter"]]
        assert len(alone) == 1 and "does not tell" in alone[0]["note"], threads
        check(alone[0], {**one, "stack": one["stack"][:one["inner"]]})
    text = vigil("stack", process.pid).out.decode()
    assert "[interpreter 1]" in text and "[interpreter 2]" in text


@pytest.mark.parametrize("python", PYTHONS, ids=str)
def test_a_recording_shows_them_too(vigil, started, python, tmp_path):
    process, [told] = started(python, "own")
    folded = tmp_path / "x.folded"
    result = vigil("flame", process.pid, "-d", 0.3, "--idle", "--format", "folded", "-o", folded)
    assert result.status == 0, result
    lines = folded.read_text().splitlines()
    assert lines and all(";[interpreter 1];" in line and line.index("own (") < line.index("[interpreter 1]") <
                         line.index("hold (") for line in lines), lines


@pytest.mark.parametrize("python", PYTHONS, ids=str)
@pytest.mark.parametrize("options", [[], ["--native"]], ids=["python", "native"])
def test_threads_that_take_turns_in_an_interpreter_are_not_mixed_up(vigil, started, python, options, tmp_path):
    process, _ = started(python, "swap", stands=False)
    folded = tmp_path / "x.folded"
    for _ in range(5):  # on a crowded machine few looks, and sometimes none, fall where it can be told
        result = vigil("flame", process.pid, "-d", 1, "--rate", 300, "--functions", "--format", "folded", "-o", folded,
                       *options)
        assert result.status == 0, result
        inside = [line for line in folded.read_text().splitlines() if "[interpreter 1]" in line and "inner_" in line]
        for line in inside:
            outer, _, inner = line.partition("[interpreter 1]")
            assert "between" not in outer, line
            assert ("outer_a" in outer) == ("inner_a" in inner) and ("outer_b" in outer) == ("inner_b" in inner), line
        if inside or python.version < (3, 10):
            return
    raise AssertionError("none was seen; only 3.8 and 3.9 do not say whose they are")
