"""Who has the task for whose result a program waits, of process pools, on every Python of this machine."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import pythons  # noqa: E402
from conftest import WORKLOADS, end_tree, wait_for  # noqa: E402

# One of each version.
FOUND = list({p.version: p for p in pythons.find(at_least=(3, 8)) if not p.free_threaded}.values())
# What the hint says of the one that has the task.
HAS, INIT, STARTS = "has the task", "runs the pool's initializer", "has not begun to take tasks"
OWNED = {"map": HAS, "imap": HAS, "unordered": HAS, "apply": HAS, "works": HAS, "init": INIT,
         "iterable": "makes the tasks", "callback": "takes the results", "e-map": HAS, "e-apply": HAS,
         "e-init": INIT, "e-callback": "takes the results", "threads": HAS, "join": HAS, "e-wait": HAS, "e-any": HAS, "e-end": HAS}


class Program:
    """A workload pools.py that runs."""
    def __init__(self, python, method, case, binary):
        self.python, self.binary = python, binary
        self.placed = python.place(WORKLOADS / "pools.py")
        self.inside = str(pathlib.Path(self.placed).parent / f"said-{os.getpid()}-{method}-{case}")
        self.folder = pathlib.Path(python.outside(self.inside))
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.process = subprocess.Popen([*python.argv, self.placed, method, case, self.inside], stdin=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=python.env(),
                                        start_new_session=True)

    def who(self):
        """Process and thread of the one that holds it up, when it does."""
        def said():
            try:
                return tuple(int(n) for n in (self.folder / "who").read_text().split())
            except FileNotFoundError:
                return None
        return wait_for(said, what="the pool to come to its task")

    def threads(self, seconds=0):
        done = subprocess.run([self.binary, "waits", str(self.process.pid), "--seconds", str(seconds), "--json"],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return {t["tid"]: t for p in json.loads(done.stdout)["processes"] for t in p["threads"]}

    def main(self):
        return self.threads().get(self.process.pid, {})

    def hint(self, kind, text="", arrows=0):
        def seen():
            thread = self.main()
            hint = thread.get("hint", {})
            fits = hint.get("kind") == kind and text in hint["text"] + hint.get("owner_text", "")
            return thread if fits and len(thread["arrows"]) >= arrows else None
        return wait_for(seen, what=f"a hint of kind {kind} of the main thread")

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # at once: a pool replaces workers that end before it
        except ProcessLookupError:
            pass
        end_tree(self.process)
        self.process.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.python.unplace(self.placed)


@pytest.fixture
def program(binary):
    running = []

    def start(python, method, case):
        running.append(Program(python, method, case, binary))
        return running[-1]
    yield start
    for p in running:
        p.end()


# The pool's own objects differ from one Python to the next; what its threads and workers do is tried on the oldest and the newest.
EACH = [(python, case) for python in FOUND for case in OWNED if case in ("map", "e-map", "init") or python in (FOUND[0], FOUND[-1])]


@pytest.mark.parametrize("python,case", EACH, ids=str)
def test_who_has_the_task_is_the_one_that_is_waited_for(program, python, case):
    running = program(python, "fork", case)
    pid, tid = running.who()
    thread = running.hint("owner", OWNED[case])
    assert not thread["hint"]["proof"], thread
    arrows = [(a["to"]["pid"], a["to"]["tid"], a["quality"]) for a in thread["arrows"]]
    # Both workers run the initializer, and either would do.
    assert (pid, tid, "likely" if len(arrows) == 1 else "possible") in arrows, thread
    assert len(arrows) <= (2 if "init" in case else 1), thread


@pytest.mark.parametrize("python", FOUND, ids=str)
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
@pytest.mark.parametrize("case", ["map", "e-map"])
def test_workers_that_were_not_forked_are_known_too(program, python, method, case):
    running = program(python, method, case)
    pid, tid = running.who()
    thread = running.hint("owner")
    assert HAS in thread["hint"]["owner_text"], thread
    assert [(a["to"]["pid"], a["to"]["tid"]) for a in thread["arrows"]] == [(pid, tid)], thread


@pytest.mark.parametrize("python", FOUND, ids=str)
def test_a_task_that_ended_with_its_worker_is_nobodys(program, python):
    running = program(python, "fork", "killed")
    # The pool looks for workers that have ended ten times a second: until then the others wait for one.
    thread = running.hint("nobody", "replaced one that ended")
    assert not thread["hint"]["proof"] and "no worker has the task" in thread["hint"]["text"], thread


@pytest.mark.parametrize("python", FOUND, ids=str)
def test_where_the_thread_that_takes_the_results_has_failed_nobody_is_left(program, python):
    running = program(python, "fork", "unreadable")
    running.who()  # another worker goes on with its own task
    thread = running.hint("nobody", "the pool's thread that takes the results has ended")
    assert not thread["hint"]["proof"], thread


@pytest.mark.parametrize("python", FOUND, ids=str)
def test_a_task_that_a_stopped_worker_should_take_is_not_lost(program, python):
    thread = program(python, "fork", "stopped").hint("owner", "should take the task")
    assert [a["quality"] for a in thread["arrows"]] == ["likely"], thread


@pytest.mark.parametrize("python", FOUND, ids=str)
@pytest.mark.parametrize("case", ["behind", "e-behind"])
def test_where_all_workers_have_other_tasks_all_are_waited_for(program, python, case):
    thread = program(python, "fork", case).hint("owner", "has another task", 2)
    assert len(thread["arrows"]) == 2 and not thread["hint"]["proof"], thread


LOOKS = [(python, case) for python in FOUND for case in ("naps", "asks", "e-naps") if case == "naps" or python in (FOUND[0], FOUND[-1])]


@pytest.mark.parametrize("python,case", LOOKS, ids=str)
def test_who_looks_for_results_again_and_again_waits_for_a_worker_that_can_never_go_on(program, python, case):
    running = program(python, "fork", case)
    pid, tid = running.who()

    def arrow():
        thread = running.threads(seconds=2)[running.process.pid]
        return [(a["to"]["pid"], a["to"]["tid"], a["quality"]) for a in thread["arrows"]] and thread
    thread = wait_for(arrow, 60, what="an arrow of a main thread that sleeps")
    assert [(a["to"]["pid"], a["to"]["tid"], a["quality"]) for a in thread["arrows"]] == [(pid, tid, "likely")], thread
    assert thread["hint"]["kind"] == "task" and "pools.py" in thread["hint"]["text"], thread


JOBLIB = """
import os, sys, threading
from joblib import Parallel, delayed
def work(k, folder):
    if k == 3:
        open(f"{folder}/new", "w").write(f"{os.getpid()} {threading.get_native_id()}")
        os.replace(f"{folder}/new", f"{folder}/who")
        os.read(os.pipe()[0], 1)
    return k
Parallel(n_jobs=2, backend=sys.argv[1])(delayed(work)(k, sys.argv[2]) for k in range(6))
"""


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_the_pools_of_joblib_are_read(binary, tmp_path, backend):
    """Some releases wait for the result, others sleep and look."""
    (tmp_path / "train.py").write_text(JOBLIB)
    running = subprocess.Popen(["/usr/bin/python3", tmp_path / "train.py", backend, tmp_path], start_new_session=True,
                               stderr=subprocess.DEVNULL, env={**os.environ, "JOBLIB_TEMP_FOLDER": str(tmp_path)})
    try:
        who = wait_for(lambda: (tmp_path / "who").exists() and (tmp_path / "who").read_text(), 60, "the task")
        pid, tid = (int(n) for n in who.split())

        def arrow():
            done = subprocess.run([binary, "waits", str(running.pid), "--seconds", "2", "--json"], capture_output=True, text=True,
                                  timeout=60)
            threads = {t["tid"]: t for p in json.loads(done.stdout)["processes"] for t in p["threads"]}
            return threads[running.pid] if threads.get(running.pid, {}).get("arrows") else None
        thread = wait_for(arrow, 60, "an arrow")
        assert [(a["to"]["pid"], a["to"]["tid"]) for a in thread["arrows"]] == [(pid, tid)], thread
        assert "train.py" in thread["hint"]["text"] + thread["hint"]["owner_text"], thread
    finally:
        os.killpg(running.pid, signal.SIGKILL)  # joblib's cleaner as well
        running.wait(30)
        for left in pathlib.Path("/dev/shm").glob(f"sem.loky-{running.pid}-*"):
            left.unlink(missing_ok=True)


# ---- healthy ones ----

@pytest.mark.parametrize("python", [FOUND[0], FOUND[-1]], ids=str)
def test_who_sleeps_while_a_worker_computes_waits_for_nobody(program, python):
    running = program(python, "fork", "naps-works")
    running.who()
    thread = running.threads(seconds=2)[running.process.pid]
    assert not thread["arrows"], thread



@pytest.mark.parametrize("python", FOUND, ids=str)
def test_workers_that_are_slow_to_begin_have_lost_nothing(program, python):
    running = program(python, "spawn", "starts")
    running.who()
    thread = running.hint("owner")
    assert STARTS in thread["hint"]["owner_text"], thread


@pytest.mark.parametrize("python", FOUND, ids=str)
def test_a_second_set_of_workers_that_begins_slowly_is_not_endless(program, python):
    running = program(python, "fork", "second")
    running.who()
    thread = running.hint("owner")
    assert INIT in thread["hint"]["owner_text"], thread


@pytest.mark.parametrize("python", FOUND, ids=str)
@pytest.mark.parametrize("case", ["input", "e-input"])
def test_a_pool_without_tasks_holds_up_nobody(program, python, case):
    running = program(python, "fork", case)
    running.who()
    thread = wait_for(lambda: (lambda t: t if t.get("syscall") == "read" else None)(running.main()),
                      what="the main thread to wait for its input")
    assert "hint" not in thread, thread


@pytest.mark.parametrize("python", FOUND, ids=str)
def test_workers_that_end_by_design_have_lost_nothing(program, python):
    running = program(python, "fork", "few")
    running.who()
    for _ in range(20):
        assert running.main().get("hint", {}).get("kind") != "nobody"
