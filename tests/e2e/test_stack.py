"""vigil stack: every CPython that can be had runs programs that know their own stack; and everything that can go wrong."""
import json
import os
import signal
import subprocess
import sys

import pytest

import pythons
from conftest import WORKLOADS, end_tree, wait_for, workload

MODES = subprocess.run([sys.executable, WORKLOADS / "stacks.py"], capture_output=True, text=True, check=True).stdout.split()
PYTHONS = pythons.find()
SYSTEM = next(p for p in PYTHONS if p.argv == ("/usr/bin/python3",))


def start_python(python, *args):
    """A test program under one of the interpreters, in its own root if it has one; its first line of output is read."""
    script = python.place(WORKLOADS / "stacks.py")
    process = subprocess.Popen([*python.argv, script, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               env=python.env(PYTHONDONTWRITEBYTECODE="1"))
    line = process.stdout.readline()
    assert line, f"{python.label} {args} printed nothing"
    return process, json.loads(line)


@pytest.fixture
def known(request):
    started = []

    def start(python, *args):
        process, told = start_python(python, *args)
        started.append(process)
        return process, told
    yield start
    for process in started:
        end_tree(process)
        process.wait(10)
        process.stdin.close()
        process.stdout.close()


def stacks(vigil, pid, *options, status=0):
    result = vigil("stack", pid, "--json", *options)
    assert result.status == status, result
    answer = result.json()
    assert answer["schema"] == "vigil.stacks/1"
    return answer


def thread_of(answer, tid):
    found = [t for p in answer["processes"] for t in p["threads"] if t["tid"] == tid]
    assert len(found) == 1, answer
    return found[0]


def python_frames(thread):
    return [[f["name"], f["file"], f.get("line", 0)] for f in thread["frames"] if f["kind"] == "python"]


@pytest.mark.parametrize("python", PYTHONS, ids=str)
@pytest.mark.parametrize("native", [False, True], ids=["python", "native"])
def test_frames_and_lines_are_those_the_interpreter_tells_itself(vigil, known, python, native):
    wrong = []
    for mode in MODES:
        process, told = known(python, mode)
        if mode == "leaderless":
            wait_for(lambda pid=process.pid: open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] == "Z")
        answer = stacks(vigil, process.pid, *(["--native"] if native else []))
        thread = thread_of(answer, told["tid"])
        frames = python_frames(thread)
        if not frames or frames[0][0] != "hold" or frames[1:] != told["stack"]:
            wrong.append((mode, frames[:6], told["stack"][:6]))
        if native and thread.get("approximate"):
            wrong.append((mode, "approximate", [f["name"] for f in thread["frames"]]))
        if native and not any(f["kind"] == "native" for f in thread["frames"]):
            wrong.append((mode, "no native frames", thread.get("note")))
        process.stdin.close()
        process.wait(10)
    assert not wrong, f"{python.label}: {wrong}"


def test_a_blocked_thread_says_what_it_waits_for(vigil, known):
    process, told = known(SYSTEM, "recursion")

    def asleep():  # it tells where it is right before it waits
        thread = thread_of(stacks(vigil, process.pid), told["tid"])
        return thread if thread["state"] == "idle" else None

    thread = wait_for(asleep)
    assert thread["main"] is True
    assert "pipe" in thread["waiting_on"], thread["waiting_on"]
    assert thread["wait"]["syscall"] == "read"
    assert thread["wait"]["fd"] == 0


def test_a_stopped_process_is_read_and_stays_stopped(vigil, known):
    process, told = known(SYSTEM, "callback")
    os.kill(process.pid, signal.SIGSTOP)
    wait_for(lambda: open(f"/proc/{process.pid}/stat").read().split(")")[1].split()[0] == "T")
    for options in ([], ["--native"]):
        answer = stacks(vigil, process.pid, *options)
        thread = thread_of(answer, told["tid"])
        assert python_frames(thread)[1:] == told["stack"]
        assert answer["processes"][0]["state"] == "T"
    assert open(f"/proc/{process.pid}/stat").read().split(")")[1].split()[0] == "T"


def test_a_traced_process_still_shows_its_python_frames(vigil, known, tmp_path):
    process, told = known(SYSTEM, "thread")
    tracer = subprocess.Popen([sys.executable, "-c", f"""
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
assert libc.ptrace(0x4206, {told['tid']}, 0, 0) == 0  # PTRACE_SEIZE
print("traced", flush=True)
sys.stdin.read()
"""], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert tracer.stdout.readline() == b"traced\n"
        thread = thread_of(stacks(vigil, process.pid, "--native"), told["tid"])
        assert python_frames(thread)[1:] == told["stack"]
    finally:
        tracer.communicate()


def test_locals_are_shown_when_asked_for(vigil, known):
    process, told = known(SYSTEM, "callback")
    answer = stacks(vigil, process.pid, "--locals")
    thread = thread_of(answer, told["tid"])
    frame = next(f for f in thread["frames"] if f["name"] == "compare")
    values = {v["name"]: v for v in frame["locals"]}
    assert values["a"]["value"] == "3" and values["a"]["argument"] is True
    text = vigil("stack", process.pid, "--locals").out.decode()
    assert "argument a = 3" in text


def test_children_are_shown_with_rank_and_role(vigil):
    process = vigil.start("run", "--nproc", 2, "--name", "pair", "--", *workload("spin"))

    def both():
        result = vigil("stack", "pair", "--json")
        if result.status != 0:
            return None
        found = {p.get("rank"): p for p in result.json()["processes"]
                 if any(f["name"] == "main" for t in p["threads"] for f in t["frames"])}
        return found if {0, 1} <= set(found) else None
    found = wait_for(both, 20, "the stacks of both ranks")
    assert found[0]["pid"] != found[1]["pid"]
    assert found[0]["role"] == "main"
    process.send_signal(signal.SIGTERM)


def test_a_program_in_c_gives_native_frames(vigil):
    process = subprocess.Popen(["sleep", "1000"])
    try:
        wait_for(lambda: "nanosleep" in open(f"/proc/{process.pid}/wchan").read())
        answer = stacks(vigil, process.pid)
        thread = answer["processes"][0]["threads"][0]
        assert "python" not in answer["processes"][0]
        assert any("nanosleep" in f["name"] for f in thread["frames"]), thread
        assert thread["wait"]["kind"] == "sleep"
    finally:
        end_tree(process)
        process.wait()


def test_a_process_whose_main_thread_has_ended_is_seen_through_the_others(vigil, binary, tmp_path):
    """Such a process is a zombie to a careless look, and the memory of its leader is gone."""
    program = binary.parents[2] / "tests/e2e/native/stacktarget_dynamic"
    process = subprocess.Popen([program, "headless"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        line = next(line for line in process.stdout if line.startswith("tid "))
        tid = int(line.split()[1])
        wait_for(lambda: "pipe" in open(f"/proc/{process.pid}/task/{tid}/wchan").read())
        answer = stacks(vigil, process.pid)
        names = [f["name"] for f in thread_of(answer, tid)["frames"]]
        expected = ["stand", "ready", "level_c", "level_b", "level_a", "headless_first"]
        assert [n for n in names if n in expected] == expected
        wait = thread_of(answer, tid)["wait"]
        assert wait["fd"] == 0 and "pipe" in wait["target"], wait
        main = thread_of(answer, process.pid)
        assert main["frames"] == [] and main["wait"]["kind"] == "zombie"
        assert answer["processes"][0]["name"] == "stacktarget_dyn"
        text = vigil("stack", process.pid).out.decode()
        assert "its main thread has ended" in text and "exit status" not in text, text
        folded = tmp_path / "headless.folded"
        result = vigil("flame", process.pid, "-d", 0.5, "--native", "--format", "folded", "-o", folded)
        assert result.status == 0, result
        assert "level_a" in folded.read_text() and "headless_first" in folded.read_text()
    finally:
        end_tree(process)
        process.stdin.close()
        process.stdout.close()
        process.wait()


def test_pids_that_cannot_be_shown_say_why(vigil):
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert vigil("stack", gone.pid).status == 4
    result = vigil("stack", 2)
    if os.path.exists("/proc/2") and not open("/proc/2/cmdline").read():
        assert result.status == 3 and "kernel" in result.text, result
    zombie = subprocess.Popen(["true"])
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
    result = vigil("stack", zombie.pid)
    zombie.wait()
    assert result.status in (3, 4) and ("ended" in result.text or "running" in result.text), result
    assert vigil("stack", "no-such-job").status == 4


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
def test_what_is_missing_is_named_when_it_is_not_permitted(vigil, known):
    process, _ = known(SYSTEM, "recursion")
    result = vigil("stack", process.pid, prefix=["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                                                 "--bounding-set=-all", "--inh-caps=-all"])
    assert result.status == 3, result
    assert "user" in result.text or "uid" in result.text, result


def test_text_is_for_people(vigil, known):
    process, told = known(SYSTEM, "recursion")
    result = vigil("stack", process.pid)
    assert result.status == 0
    text = result.out.decode()
    assert f"Process {process.pid}" in text and "hold (" in text and "waiting" not in result.text
    assert text.index("hold (") < text.index("<module> (")


@pytest.mark.parametrize("python", PYTHONS, ids=str)
def test_threads_have_the_names_that_the_program_gave_them(vigil, python, tmp_path):
    script = python.place(WORKLOADS / "names.py")
    process = subprocess.Popen([*python.argv, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               env=python.env(PYTHONDONTWRITEBYTECODE="1"))
    try:
        assert process.stdout.readline() == b"ready\n"
        expected = {"a-loader-with-a-name-that-is-far-longer-than-the-kernel-keeps", "größe-的工人的工人的工人", "mine",
                    "with a dict", "pool_0", "pool_1"}
        names = [t["name"] for t in stacks(vigil, process.pid)["processes"][0]["threads"]]
        assert set(names[1:]) == expected and names[0].startswith("python"), names
        folded = tmp_path / "x.folded"
        assert vigil("flame", process.pid, "-d", 0.2, "--idle", "--by", "thread", "--format", "folded", "-o", folded).status == 0
        text = folded.read_text()
        assert all(name in text for name in expected), text
    finally:
        process.stdin.close()
        end_tree(process)
        process.wait(10)
        process.stdout.close()


CYTHON_LIKE = """#include <unistd.h>
__attribute__((noinline)) static void __Pyx_Call(void) { for (;;) pause(); }
  /* "srv/part.pyx":40
 * def step(n):
 *     wait(n)             # <<<<<<<<<<<<<<
 */
__attribute__((noinline)) void __pyx_pf_4part_5Model_2step(void)
{
  /* "srv/part.pyx":41
 */
  __Pyx_Call();
  __asm__ volatile("");
}
/* --- Runtime support code --- */
int main(void) { write(1, "ready\\n", 6); __pyx_pf_4part_5Model_2step(); return 0; }
"""


def test_functions_of_cython_have_their_name_and_line(vigil, tmp_path):
    """What Cython makes, without Cython: names as it gives them, and its comments before the code of each line."""
    (tmp_path / "part.c").write_text(CYTHON_LIKE)
    subprocess.run(["gcc", "-g", "-O1", "part.c", "-o", "part"], cwd=tmp_path, check=True)
    with subprocess.Popen([str(tmp_path / "part")], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"ready\n"
            look = vigil("stack", process.pid, "--native", "--json").json()
            frames = look["processes"][0]["threads"][0]["frames"]
            step = next(f for f in frames if f["name"] == "Model.step")
            assert (step["file"], step["line"]) == (str(tmp_path / "part.pyx"), 41)
            # a file that has changed since tells nothing
            os.utime(tmp_path / "part.c", (2**31, 2**31))
            frames = vigil("stack", process.pid, "--native", "--json").json()["processes"][0]["threads"][0]["frames"]
            step = next(f for f in frames if f["name"] == "Model.step")
            assert step["file"] == str(tmp_path / "part.c")
        finally:
            process.kill()


def test_kernel_frames_stand_before_the_others(vigil, begin):
    process = begin("/usr/bin/python3", "-c", "import time\nprint('begun', flush=True)\ntime.sleep(1000)")
    wait_for(lambda: "nanosleep" in open(f"/proc/{process.pid}/wchan").read(), what="it to sleep")

    def frames(*options):
        return vigil("stack", process.pid, "--json", *options).json()["processes"][0]["threads"][0]
    thread = frames("--kernel")
    if os.geteuid():
        assert "CAP_SYS_ADMIN" in thread["note"]
        return
    kinds = [f["kind"] for f in thread["frames"]]
    assert "nanosleep" in thread["frames"][0]["name"] and kinds[0] == "kernel"
    assert kinds == sorted(kinds, key=lambda kind: kind != "kernel") and kinds[-1] == "python"
    assert all(f["module"] == "kernel" for f in thread["frames"] if f["kind"] == "kernel")
    assert "kernel" not in [f["kind"] for f in frames()["frames"]]
