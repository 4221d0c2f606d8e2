"""The asyncio tasks of a process, told from outside: `vigil stack` and `vigil waits` against programs that know the
truth. Every Python of this machine (tests/pythons.py)."""
import contextlib
import json
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import pythons  # noqa: E402
from conftest import WORKLOADS, wait_for  # noqa: E402

SCRIPT = WORKLOADS / "asynctasks.py"
FOUND = [p for p in pythons.find(at_least=(3, 8)) if not p.free_threaded]
every_python = pytest.mark.parametrize("python", FOUND, ids=str)
SOURCE = SCRIPT.read_text().splitlines()


def line_of(text):
    return 1 + next(i for i, line in enumerate(SOURCE) if line.strip() == text)


@contextlib.contextmanager
def running(python, what):
    """The process in its loop, and what it says of itself."""
    placed = python.place(SCRIPT)
    process = subprocess.Popen([*python.argv, placed, what], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               env=python.env())
    try:
        line = process.stdout.readline()
        assert line, "it ended"
        task = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}")
        before = [None]

        def still():
            now = (task / "schedstat").read_text(), (task / "syscall").read_text()
            same, before[0] = now == before[0] and not now[1].startswith("running"), now
            return same
        wait_for(still, what="the loop to stand still")
        yield process, json.loads(line)
    finally:
        process.kill()
        process.communicate(timeout=20)
        python.unplace(placed)


def look(binary, command, pid, *args):
    done = subprocess.run([binary, command, str(pid), "--json", *args], capture_output=True, text=True, timeout=60,
                          check=True)
    return json.loads(done.stdout)


FORSAKEN = "a future that nothing else refers to"
ALONE = " of an object that nothing else refers to"
# Name: what it awaits, its own line, the line's function, who awaits it.
TASKS = {
    "Task-1": (FORSAKEN, "await asyncio.get_running_loop().create_future()", "future", []),
    "queue": ("Queue.get" + ALONE, "await asyncio.Queue().get()", "queue", []),
    "future": (FORSAKEN, "await asyncio.get_running_loop().create_future()", "future", []),
    "local": (FORSAKEN, "await done  # of nobody else", "local", []),
    "kept": ("a future", "await futures[-1]", "kept", []),
    "scheduled": ("a future", None, "scheduled", []),
    "stream": ("StreamReader.readline (descriptor {fd})", "return await reader.readline()", "inner_read", []),
    "receive": ("loop.sock_recv (descriptor {fd})", "return await asyncio.get_running_loop().sock_recv(sock, 1)",
                "receive", []),
    "nap": ("sleep", "await asyncio.sleep(3600)", "nap", []),
    "limited": (None, "await asyncio.wait_for(asyncio.Event().wait(), 3600)", "limited", []),
    "executor": ("the result of a pool", "await asyncio.get_running_loop().run_in_executor(pool, never)", "executor",
                 []),
    "gathering": (None, 'await asyncio.gather(named("child a", event()), named("child b", future()))', "gathering",
                  []),
    "child a": ("Event.wait" + ALONE, "await asyncio.Event().wait()", "event", ["gathering"]),
    "child b": (FORSAKEN, "await asyncio.get_running_loop().create_future()", "future", ["gathering"]),
    "one": ("task 'held'", "await task", "one", []),
    "held": ("Event.wait" + ALONE, None, "hold", ["one", "wants"]),
    "wants": ("Lock.acquire, held by task 'held'", "async with lock:", "wants", []),
}


@every_python
def test_stack_shows_each_task_where_it_waits_for_what_and_who_awaits_it(python, binary):
    with running(python, "all") as (process, truth):
        seen = look(binary, "stack", process.pid)
    tasks = {t["name"]: t for t in seen["processes"][0]["tasks"]}
    for name, (awaits, line, function, by) in TASKS.items():
        task = tasks[name]
        own = next(f for f in task["frames"] if f["file"].endswith("/asynctasks.py"))
        assert own["name"].split(".")[-1] == function, task
        if name == "wants":
            assert own["line"] == 2 + line_of("async def wants(lock):") - 1, task
        elif line:
            assert own["line"] == line_of(line), task
        if awaits:
            assert task["awaits"] == awaits.format(fd=task.get("fd")), task
        assert sorted(b["name"] for b in task["awaited_by"]) == by, task
        assert task["state"] == "waits" and task["tid"] == truth["main"]
    assert tasks["gathering"]["awaits"] in ("tasks 'child a', 'child b'", "tasks 'child b', 'child a'")
    assert tasks["stream"]["fd"] != tasks["receive"]["fd"]
    assert {n for n, t in tasks.items() if t["timed"]} == {"nap", "limited"}
    if python.version >= (3, 11):
        assert tasks["grouping"]["awaits"] == "task 'member'"
        assert [b["name"] for b in tasks["member"]["awaited_by"]] == ["grouping"]
    if python.version < (3, 12):  # wait_for made a task of what it waits for
        assert [b["name"] for b in tasks["Task-2"]["awaited_by"]] == ["limited"]


def hint_of(seen, tid):
    thread = next(t for p in seen["processes"] for t in p["threads"] if t["tid"] == tid)
    return thread, thread.get("hint", {})


@every_python
@pytest.mark.parametrize("what, text", [
    ("queue", "asyncio task 'Task-1' awaits Queue.get" + ALONE + " at asynctasks.py:{} in queue"),
    ("chain", "asyncio task 'last' awaits Queue.get" + ALONE + " at asynctasks.py:{} in queue"),
])
def test_a_loop_whose_main_task_waits_says_for_what(python, what, text, binary):
    with running(python, what) as (process, truth):
        thread, hint = hint_of(look(binary, "waits", process.pid, "--seconds", "0"), truth["main"])
    assert hint["kind"] == "nobody" and not hint["proof"]
    assert hint["text"] == text.format(line_of("await asyncio.Queue().get()"))
    assert thread["does"] == "waits" and thread["arrows"] == []


def test_a_loop_of_uvloop_is_read_as_asyncios_own(binary, tmp_path):
    pytest.importorskip("uvloop")
    script = tmp_path / "fast.py"
    script.write_text("""import asyncio, uvloop
async def train():
    print(1, flush=True)
    await asyncio.Queue().get()
async def main():
    await asyncio.gather(train(), asyncio.create_task(asyncio.sleep(0)))
uvloop.install()
asyncio.run(main())
""")
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as process:
        try:
            process.stdout.readline()

            def told():
                return hint_of(look(binary, "waits", process.pid, "--seconds", "0"), process.pid)[1].get("text")
            text = wait_for(told, what="the loop to stand still")
        finally:
            process.kill()
    assert text == "asyncio task 'Task-3' awaits Queue.get" + ALONE + " at fast.py:4 in train"


@every_python
@pytest.mark.parametrize("what", ["local", "kept"])
def test_a_future_that_only_its_task_has_is_set_by_nobody(python, what, binary):
    with running(python, what) as (process, truth):
        thread, hint = hint_of(look(binary, "waits", process.pid, "--seconds", "0"), truth["main"])
    alone = what == "local"
    assert hint["kind"] == ("nobody" if alone else "text") and not hint["proof"], hint
    assert (FORSAKEN in hint["text"]) == alone and hint["text"].startswith("asyncio task 'Task-1' awaits a future ")


@every_python
@pytest.mark.parametrize("what", ["producer", "shared"])
def test_a_queue_that_only_those_who_wait_for_it_have_is_filled_by_nobody(python, what, binary):
    with running(python, what) as (process, truth):
        thread, hint = hint_of(look(binary, "waits", process.pid, "--seconds", "0"), truth["main"])
    alone = what == "producer"
    assert hint["kind"] == ("nobody" if alone else "text") and not hint["proof"], hint
    assert f" awaits Queue.get{ALONE if alone else ''} at asynctasks.py:" in hint["text"]


@every_python
def test_a_queue_whose_takers_wait_for_more_is_joined_for_ever(python, binary):
    for what, alone in ("joined", True), ("joined-kept", False):
        with running(python, what) as (process, truth):
            thread, hint = hint_of(look(binary, "waits", process.pid, "--seconds", "0"), truth["main"])
        assert hint["kind"] == ("nobody" if alone else "text") and not hint["proof"], hint
        assert f" awaits Queue.join{ALONE if alone else ''} at asynctasks.py:" in hint["text"]


@every_python
def test_a_server_whose_tasks_wait_for_their_own_loop_waits_for_no_connection(python, binary):
    with running(python, "serves") as (process, truth):
        thread, hint = hint_of(look(binary, "waits", process.pid), truth["main"])
    line = line_of("writer.write(await queue.get())")
    assert hint["kind"] == "within" and not hint["proof"], hint
    assert f" awaits Queue.get at asynctasks.py:{line} in handle" in hint["text"]
    assert thread["end"] == "visitor" and thread["arrows"] == []
    if python.version < (3, 14):  # later ones forget a task that has ended
        raised = line_of('raise IndexError("no row is left")')
        assert f"task 'fill' has failed: IndexError at asynctasks.py:{raised} in fail" in hint["text"]


@every_python
def test_a_task_that_reads_a_stream_waits_for_whoever_has_the_other_end(python, binary):
    with running(python, "stream") as (process, truth):
        thread, hint = hint_of(look(binary, "waits", process.pid, "--seconds", "0"), truth["main"])
    assert hint["kind"] == "connection" and "StreamReader.readline" in hint["text"]
    assert [a["to"]["pid"] for a in thread["arrows"]] == [truth["peer"]]


@every_python
def test_a_task_that_awaits_a_pools_result_waits_for_the_thread_that_computes_it(python, binary):
    with running(python, "executor") as (process, truth):
        thread, hint = hint_of(look(binary, "waits", process.pid, "--seconds", "0"), truth["main"])
        names = {int(t.name): (t / "comm").read_text() for t in pathlib.Path(f"/proc/{process.pid}/task").iterdir()}
    worker = next(tid for tid in names if tid != truth["main"])
    assert hint["kind"] == "owner" and not hint["proof"]
    assert [a["to"] for a in thread["arrows"]] == [{"pid": process.pid, "tid": worker}]


@every_python
def test_a_task_that_wants_a_lock_leads_to_the_one_that_holds_it(python, binary):
    with running(python, "lock") as (process, truth):
        _, hint = hint_of(look(binary, "waits", process.pid, "--seconds", "0"), truth["main"])
    assert hint["text"].startswith(f"asyncio task 'holder' awaits Event.wait{ALONE} at asynctasks.py:")


@every_python
def test_a_child_that_a_task_has_forked_is_in_no_loop(python, binary):
    with running(python, "fork") as (process, truth):
        seen = look(binary, "waits", process.pid, "--seconds", "0")
    _, hint = hint_of(seen, truth["main"])
    assert hint["text"].startswith("asyncio task 'Task-1' awaits a future ")
    thread, hint = hint_of(seen, truth["peer"])
    assert not hint.get("text", "").startswith("asyncio"), thread


def test_tasks_stand_below_the_thread_of_their_loop_and_alike_ones_once(binary):
    with running(FOUND[-1], "all") as (process, _):
        done = subprocess.run([binary, "stack", str(process.pid)], capture_output=True, text=True, timeout=60,
                              check=True)
    assert f'asyncio task "child a" awaits Event.wait{ALONE}; awaited by "gathering"\n' in done.stdout
    assert 'asyncio task "nap" awaits sleep, with a time limit\n' in done.stdout
    assert done.stdout.index('" (main)') < done.stdout.index("asyncio task")


def test_stack_says_at_each_thread_whom_it_waits_for(binary):
    with running(FOUND[-1], "executor") as (process, truth):
        seen = look(binary, "stack", process.pid)
        done = subprocess.run([binary, "stack", str(process.pid)], capture_output=True, text=True, timeout=60,
                              check=True)
    threads = {t["tid"]: t for t in seen["processes"][0]["threads"]}
    worker = next(tid for tid in threads if tid != truth["main"])
    assert [a["to"] for a in threads[truth["main"]]["waits_for"]["to"]] == [{"pid": process.pid, "tid": worker}]
    assert threads[worker]["waits_for"]["end"] == "nobody" and threads[worker]["waits_for"]["to"] == []
    assert f"\n      waits for thread {worker}: asyncio task 'Task-1' awaits the result of a pool at " in done.stdout
    assert "\n      Event.wait at asynctasks.py:" in done.stdout
    assert "; nobody is left who could end this wait\n" in done.stdout


def test_stack_names_the_process_at_the_other_end_of_a_stream(binary):
    with running(FOUND[-1], "stream") as (process, truth):
        done = subprocess.run([binary, "stack", str(process.pid)], capture_output=True, text=True, timeout=60,
                              check=True)
    assert f"\n      waits for process {truth['peer']} (python" in done.stdout
    assert f"\n      waits for process {process.pid} (python" in done.stdout  # the child reads from the loop
