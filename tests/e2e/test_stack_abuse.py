"""vigil stack and vigil flame on programs that make it hard: they change, hide, die, are traced, or mind being stopped."""
import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

import pythons
from conftest import WORKLOADS, end_tree, wait_for
from guardkit import nobodys_vigil  # noqa: F401

PYTHONS = pythons.find()
PYTHON = sys.executable
SPIN = "def spin():\n    while True:\n        pass\nprint('begun', flush=True)\nspin()\n"
SLEEP = "def rest():\n    print('begun', flush=True)\n    time.sleep(1000)\nimport time\nrest()\n"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """compiled(source, *flags, suffix, compiler): a program of that source."""
    folder = tmp_path_factory.mktemp("compiled")

    def make(source, *flags, suffix=".c", compiler="gcc"):
        compiler = shutil.which("g++" if suffix == ".cpp" else compiler)
        if not compiler:
            pytest.skip("no compiler here")
        path = folder / f"program{abs(hash((source, flags, compiler)))}{suffix}"
        path.write_text(source)
        subprocess.run([compiler, "-O1", *flags, "-o", path.with_suffix(""), path, "-lpthread"], check=True)
        return path.with_suffix("")
    return make


def state_of(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def unharmed(pid):
    """Alive, not stopped, not traced, and so are its threads."""
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        status = (task / "status").read_text()
        assert "TracerPid:\t0\n" in status, status
        assert re.search(r"^State:\t[RSD]", status, re.M), status


def folded(result):
    rows = collections.Counter()
    for line in result.out.decode().splitlines():
        stack, count = line.rsplit(" ", 1)
        rows[stack] += int(count)
    return rows


def flame(vigil, pid, *options, **how):
    result = vigil("flame", pid, "--format", "folded", *options, **how)
    assert result.status == 0, result
    return folded(result)


def names(result):
    """The names of the frames of the only process's first thread, innermost first."""
    assert result.status == 0, result
    return [f["name"] for f in result.json()["processes"][0]["threads"][0]["frames"]]


EPOLL = r"""
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>
static volatile sig_atomic_t interrupted;
static void tell(int s) { char t[32]; int n = snprintf(t, sizeof t, "%d\n", interrupted); (void)s;
	if (write(1, t, n) != n) _exit(1); _exit(0); }
__attribute__((noinline)) int await(int e) { struct epoll_event ev;
	while (epoll_wait(e, &ev, 1, -1) < 0 && errno == EINTR) interrupted++; return 0; }
int main(void) { signal(SIGTERM, tell); int e = epoll_create1(0); puts("begun"); fflush(stdout); return await(e); }
"""


@pytest.mark.parametrize("flags", [[], ["-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables"]],
                         ids=["tables", "frame-pointers"])
def test_a_call_that_would_fail_is_not_interrupted(vigil, begin, compiled, flags):
    process = begin([compiled(EPOLL, *flags)])
    wait_for(lambda: state_of(process.pid) == "S")
    for _ in range(3):
        assert "epoll_wait" in names(vigil("stack", process.pid, "--native", "--json"))
    rows = flame(vigil, process.pid, "-d", 0.5, "--native", "--idle")
    assert any("epoll_wait" in stack for stack in rows), rows
    unharmed(process.pid)
    process.terminate()
    assert process.stdout.readline() == b"0\n"


BY_POINTER = r"""
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
typedef int (*step)(int, int);
static volatile step first, second, third;
__attribute__((noinline)) static int use(char *p) { return p[0]; }
__attribute__((noinline)) int innermost(int e, int n) { struct epoll_event ev[4]; char room[200]; memset(room, n, sizeof room);
	return epoll_wait(e, ev, 4, -1) + use(room); }
__attribute__((noinline)) int plain(int e, int n) { return third(e, n) + 1; }
__attribute__((noinline)) int wide(int e, int n) { char room[3000]; memset(room, n, sizeof room); return second(e, n) + use(room); }
int main(void) { third = innermost; second = plain; first = wide;
	int e = epoll_create1(0); puts("begun"); fflush(stdout); return first(e, 1) + 1; }
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_frame_pointers_of_a_thread_that_is_not_stopped_are_found(vigil, begin, compiled, compiler, level):
    program = compiled(BY_POINTER, level, "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", compiler=compiler)
    process = begin([program])
    wait_for(lambda: state_of(process.pid) == "S")
    result = vigil("stack", process.pid, "--native", "--json")
    found = names(result)
    assert [n for n in found if n in ("innermost", "plain", "wide", "main")] == ["innermost", "plain", "wide", "main"], found
    assert found[0] == "epoll_wait" and found[-1] in ("_start", "__libc_start_main"), found
    assert "incomplete" not in result.json()["processes"][0]["threads"][0], result


INLINED = r"""
#line 7 "inlined.h"
extern int pause(void);
static inline __attribute__((always_inline)) int waits(void) { return pause(); }
static inline __attribute__((always_inline)) int between(void) {
	return waits() + 1;
}
#line 20 "program.c"
#include <stdio.h>
__attribute__((noinline)) int keeper(void) {
	return between() + 1;
}
int main(void) {
	puts("begun"); fflush(stdout);
	return keeper() + 1;
}
"""


@pytest.mark.parametrize("compiler,version", [("gcc", 4), ("gcc", 5), ("clang", 5)])
def test_a_line_is_one_of_the_function_that_is_named(vigil, begin, compiled, compiler, version):
    process = begin([compiled(INLINED, "-O2", f"-gdwarf-{version}", compiler=compiler)])
    wait_for(lambda: state_of(process.pid) == "S")
    result = vigil("stack", process.pid, "--json")
    lines = {f["name"]: (pathlib.Path(f.get("file", "")).name, f.get("line"))
             for f in result.json()["processes"][0]["threads"][0]["frames"]}
    assert lines["keeper"] == ("program.c", 22) and lines["main"] == ("program.c", 26), lines


RUST = """use std::sync::{mpsc, Arc, Mutex};
#[inline(never)]
fn spin(n: u64) -> u64 {
    let mut x = n;
    loop { let y = x.wrapping_mul(6364136223846793005).rotate_left(7); x = unsafe { std::ptr::read_volatile(&y) }; if x == 42 { return x; } }
}
fn main() {
    let lock = Arc::new(Mutex::new(0)); let held = lock.lock().unwrap(); let other = lock.clone();
    std::thread::Builder::new().name("locker".into()).spawn(move || { let _x = other.lock().unwrap(); }).unwrap();
    let (_tx, rx) = mpsc::channel::<u32>();
    std::thread::Builder::new().name("receiver".into()).spawn(move || { rx.recv().ok(); }).unwrap();
    println!("begun");
    println!("{}", spin(3));
    drop(held);
}
"""


def test_a_program_in_rust(vigil, begin, tmp_path):
    if not shutil.which("rustc"):
        pytest.skip("no Rust compiler here")
    source = tmp_path / "program.rs"
    source.write_text(RUST)
    subprocess.run(["rustc", "-O", "-g", "-o", tmp_path / "program", source], check=True)
    process = begin([tmp_path / "program"])
    wait_for(lambda: all(state_of(t) == "S" for t in map(int, os.listdir(f"/proc/{process.pid}/task")) if t != process.pid))
    threads = {t["name"]: t for t in vigil("stack", process.pid, "--json").json()["processes"][0]["threads"]}
    shown = {name: [f["name"] for f in t["frames"]] for name, t in threads.items()}
    main = shown.pop("program")
    assert any(re.search(r"spin$", n) for n in main) and "main" in main, main
    spin = next(f for f in threads["program"]["frames"] if f["name"].endswith("spin"))
    assert (pathlib.Path(spin["file"]).name, spin["line"]) == ("program.rs", 5), spin
    assert set(shown) == {"locker", "receiver"}, shown
    for name, what in (("locker", "Mutex"), ("receiver", "recv")):
        assert any(what in n for n in shown[name]) and any("start_thread" in n for n in shown[name]), shown
        assert threads[name]["waiting_on"].startswith("futex") and "incomplete" not in threads[name], threads[name]
    record = vigil("flame", process.pid, "-d", 0.5, "--format", "json").json()["meta"]
    assert record["pauses"] < record["samples"] / 2, record


GO = """package main
import "fmt"
//go:noinline
func spin(n uint64) uint64 { for { n = n*6364136223846793005 + 1; if n == 42 { return n } } }
//go:noinline
func turn(n uint64) uint64 { return spin(n) + 1 }
func main() { fmt.Println("begun"); fmt.Println(turn(3)) }
"""


def test_a_program_in_go(vigil, begin, tmp_path):
    if not shutil.which("go"):
        pytest.skip("no Go compiler here")
    (tmp_path / "main.go").write_text(GO)
    subprocess.run(["go", "build", "-o", "program", "main.go"], cwd=tmp_path, check=True, timeout=120,
                   env={**os.environ, "GO111MODULE": "off", "GOFLAGS": ""})
    process = begin([tmp_path / "program"])

    def spinning():
        threads = vigil("stack", process.pid, "--json").json()["processes"][0]["threads"]
        return next((t for t in threads if t["frames"] and t["frames"][0]["name"] == "main.spin"), None)
    thread = wait_for(spinning)
    assert [f["name"] for f in thread["frames"]] == ["main.spin", "main.turn", "main.main", "runtime.main"], thread
    assert "incomplete" not in thread and pathlib.Path(thread["frames"][1]["file"]).name == "main.go", thread


SILENT = r"""
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static volatile char seen;
__attribute__((noinline)) static void inner(int n) { char room[400]; memset(room, n, sizeof room); sleep(1000); seen = room[n]; }
__attribute__((noinline)) static void outer(int n) { char room[400]; memset(room, n, sizeof room); inner(n); seen = room[n]; }
int main(void) { puts("begun"); fflush(stdout); outer(3); return 0; }
"""


def test_a_stack_that_ends_too_early_says_so(vigil, begin, compiled):
    process = begin([compiled(SILENT, "-O2", "-fomit-frame-pointer", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables")])
    wait_for(lambda: state_of(process.pid) == "S")
    result = vigil("stack", process.pid, "--json")
    if "main" in names(result):
        pytest.skip("this compiler leaves enough to find all frames")
    assert result.json()["processes"][0]["threads"][0]["incomplete"] is True, result
    assert b"could not be found" in vigil("stack", process.pid).out
    record = vigil("flame", process.pid, "-d", 0.3, "-f", "json")
    assert record.json()["meta"]["incomplete"] > 0 and re.search(r"incomplete stacks +\d+ of", record.text), record


def test_what_is_no_cpython_is_named(vigil, begin, tmp_path):
    other = tmp_path / "pypy3.9"
    shutil.copyfile(shutil.which("sh"), other)
    other.chmod(0o755)
    process = begin([other, "-c", "echo begun; read line; while true; do :; done"])
    stack = vigil("stack", process.pid)
    assert b"is PyPy, not CPython" in stack.out and b"_start" in stack.out or b"__libc_start_main" in stack.out, stack
    flame = vigil("flame", process.pid, "-d", 0.2, "-f", "json")
    assert "is PyPy, not CPython" in flame.text and "is PyPy" in flame.json()["meta"]["missing"], flame
    calls = vigil("calls", process.pid, "-d", 0.2)
    assert calls.status == 0 and "is PyPy, not CPython" in calls.text, calls


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root")
def test_a_child_that_may_not_be_looked_into_is_told_of(nobodys_vigil, begin, as_nobody):
    vigil = nobodys_vigil
    script = "import os, sys\nif len(sys.argv) > 1:\n    if os.fork() == 0:\n        os.setuid(65533)\n        " \
             "os.execv('/bin/sleep', ['sleep', '1000'])\n    os.setgid(65534), os.setuid(65534)\n" \
             "    os.execv(sys.executable, [sys.executable, '-c', sys.argv[1]])\n"
    process = begin(["/usr/bin/python3", "-c", script, SPIN])
    wait_for(lambda: any((task := pathlib.Path(f"/proc/{p}")).joinpath("comm").read_text() == "sleep\n" for p in
                         pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()))
    for command in (["stack"], ["flame", "-d", 0.2, "-f", "folded"], ["calls", "-d", 0.2]):
        result = vigil(*command, process.pid, prefix=as_nobody, cwd=vigil.folder)
        assert result.status == 0 and b"spin" in result.out, result
        assert "user 65533" in result.text + result.out.decode(), result


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root")
def test_where_only_a_descendant_can_be_read_the_status_says_so(nobodys_vigil, begin, as_nobody):
    """The asked process is another user's: 3, with its number, and what could be read is shown all the same."""
    vigil = nobodys_vigil
    script = "import os, sys\nif os.fork() == 0:\n    os.setgid(65534), os.setuid(65534)\n" \
             "    os.execv(sys.executable, [sys.executable, '-c', sys.argv[1]])\nos.setuid(65533)\n" \
             "os.execv('/bin/sleep', ['sleep', '1000'])"
    process = begin(["/usr/bin/python3", "-c", script, SPIN])
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    wait_for(lambda: pathlib.Path(f"/proc/{process.pid}/comm").read_text() == "sleep\n" and children.read_text().strip())
    child = int(children.read_text())
    wait_for(lambda: "spin" in vigil("stack", child).out.decode())
    for command in (["stack"], ["flame", "-d", 0.2, "-f", "folded"], ["calls", "-d", 0.2], ["waits", "-s", 0]):
        result = vigil(*command, process.pid, prefix=as_nobody, cwd=vigil.folder)
        assert result.status == 3, (command, result)
        if command[0] != "waits": # which shows who waits, and this child does not
            assert b"spin" in result.out, result
        assert re.search(rf"\b{process.pid}\b.*(user 65533|may not be looked into)", result.text + result.out.decode()), result
        assert vigil(*command, child, prefix=as_nobody, cwd=vigil.folder).status == 0


def test_what_only_waits_is_not_paused(vigil, begin):
    process = begin([PYTHON, "-c", SLEEP])
    wait_for(lambda: state_of(process.pid) == "S")
    result = vigil("flame", process.pid, "-d", 0.3, "--native", "--format", "folded")
    assert re.search(r"pauses +0:", result.text), result
    assert any("rest" in s and "nanosleep" in s for s in folded(result)), result
    stacks, matched = (int(re.search(pattern, result.text)[1]) for pattern in (r"(\d+) stacks of", r"matched stacks +(\d+) of"))
    assert stacks == matched > 20, result # also those of looks that found it still standing


def then(seconds, *command):
    """A Python program that works, then becomes another."""
    return [PYTHON, "-c", f"import os, time\nprint('begun', flush=True)\nend = time.monotonic() + {seconds}\n"
            f"def before():\n    while time.monotonic() < end:\n        pass\nbefore()\nos.execv({command[0]!r}, {list(command)!r})"]


def test_a_python_that_becomes_a_program_in_c_is_recorded_on(vigil, begin, compiled):
    spin = compiled("volatile long x; __attribute__((noinline)) int spin_c(void) { for (;;) x++; }\nint main(void) { return spin_c(); }")
    process = begin(then(0.5, str(spin)))
    rows = flame(vigil, process.pid, "-d", 1.5)
    assert sum(n for s, n in rows.items() if "spin_c" in s) > 40, rows
    assert not [s for s in rows if "spin_c" in s and "before" in s], rows
    unharmed(process.pid)


def test_a_shell_that_becomes_a_python_is_not_paused_any_longer(vigil, begin):
    process = begin(["sh", "-c", f"echo begun; sleep 0.4; exec {PYTHON} -c 'while True: pass'"])
    result = vigil("flame", process.pid, "-d", 2, "--format", "json")
    assert result.status == 0, result
    answer = result.json()
    python = {i for i, f in enumerate(answer["frames"]) if f["name"] == "<module>" and f["kind"] == "python"}
    assert python, result
    assert answer["meta"].get("pauses", 0) < 40, answer["meta"]
    assert any(lane["process"].startswith(PYTHON) for lane in answer["lanes"]), answer["lanes"]


def test_a_python_that_becomes_another_shows_no_frame_of_the_first(vigil, begin):
    others = [p for p in PYTHONS if not p.chroot and p.version != sys.version_info[:2]]
    if not others:
        pytest.skip("only one Python here")
    process = begin(then(0.4, *others[-1].argv, "-c", "def after():\n    while True: pass\nafter()"), env=others[-1].env())
    rows = flame(vigil, process.pid, "-d", 1.5)
    assert sum(n for s, n in rows.items() if "after" in s) > 30, rows
    assert not [s for s in rows if "after" in s and "before" in s], rows


@pytest.mark.parametrize("options", [[], ["--native"]], ids=["python", "native"])
def test_a_program_that_execs_all_the_time_gives_no_mixed_stacks(vigil, begin, tmp_path, options):
    script = tmp_path / "again.py"
    script.write_text("import os, sys, time\nif len(sys.argv) == 1:\n    print('begun', flush=True)\n"
                      "end = time.monotonic() + 0.05\nname = f'turn_{os.urandom(4).hex()}'\n"
                      "exec(compile(f'def {name}():\\n    while time.monotonic() < end: pass\\n{name}()', name, 'exec'))\n"
                      "os.execv(sys.executable, [sys.executable, __file__, 'again'])\n")
    process = begin([PYTHON, script])
    rows = flame(vigil, process.pid, "-d", 1.5, "--rate", 200, *options)
    turns = [[re.sub(r" .*", "", f) for f in s.split(";")] for s in rows if "turn_" in s]
    assert len(turns) > 3, rows
    for stack in turns:
        own = {f for f in stack if f.startswith("turn_")}
        assert len(own) <= 1, stack
    wrong = [s for s in rows if re.search(r"<module> \((?!again|turn_|.*/again)[^)]*\);turn_", s)]
    assert not wrong, wrong
    for _ in range(10):
        result = vigil("stack", process.pid, "--json", *options)
        assert result.status in (0, 4), result
    unharmed(process.pid)


@pytest.mark.parametrize("python", PYTHONS, ids=str)
def test_memory_of_code_that_was_freed_does_not_lend_its_name(vigil, begin, python):
    process = begin(WORKLOADS / "once.py", python=python)
    rows = flame(vigil, process.pid, "-d", 1, "--rate", 300)
    seen = collections.Counter()
    for stack, n in rows.items():
        for module, function in re.findall(r"<module> \(module_(\d+)\.py:\d+\);function_(\d+) ", stack):
            seen[module == function] += n
    assert seen[True] > 100 and not seen[False], (seen, rows)


@pytest.mark.parametrize("options", [[], ["--native"]], ids=["python", "native"])
def test_few_descriptors_are_enough_for_many_processes(vigil, begin, options):
    process = begin([PYTHON, "-c", "import os, time\nfor i in range(70):\n    if os.fork() == 0:\n        time.sleep(1000)\n"
                     "print('begun', flush=True)\ntime.sleep(1000)"])
    few = ["prlimit", "--nofile=64:64"]
    result = vigil("flame", process.pid, "-d", 0.5, "--format", "json", *options, prefix=few)
    assert result.status == 0 and len({lane["pid"] for lane in result.json()["lanes"]}) == 71, result
    result = vigil("stack", process.pid, "--json", *options, prefix=few)
    assert result.status == 0 and len(result.json()["processes"]) == 71, result


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces and other users take root")


@as_root
@pytest.mark.parametrize("options", [[], ["--native"]], ids=["python", "native"])
def test_a_process_with_its_own_numbers_and_mounts(vigil, tmp_path, options):
    script = tmp_path / "inside.py"
    script.write_text("import os, threading, time\ndef helper():\n    time.sleep(1000)\ndef outer():\n    helper()\n"
                      "threading.Thread(target=outer, name='second', daemon=True).start()\n"
                      "print(os.getpid(), threading.get_native_id(), flush=True)\nhelper()\n")
    box = subprocess.Popen(["unshare", "-pfm", "--mount-proc", "--kill-child", PYTHON, script], stdout=subprocess.PIPE)
    try:
        assert box.stdout.readline() == b"1 1\n"
        inner = int(pathlib.Path(f"/proc/{box.pid}/task/{box.pid}/children").read_text())
        wait_for(lambda: len(os.listdir(f"/proc/{inner}/task")) == 2)
        answer = vigil("stack", inner, "--json", *options).json()["processes"][0]
        tids = {t["tid"]: [f["name"] for f in t["frames"] if f["kind"] == "python"] for t in answer["threads"]}
        assert set(tids) == set(map(int, os.listdir(f"/proc/{inner}/task")))
        assert tids.pop(inner)[:2] == ["helper", "<module>"]
        assert tids.popitem()[1][:2] == ["helper", "outer"]
        rows = flame(vigil, inner, "-d", 0.3, "--idle", *options)
        assert any("outer" in s and "helper" in s for s in rows) and any("<module>" in s for s in rows), rows
        unharmed(inner)
    finally:
        end_tree(box)
        box.wait(10)
        box.stdout.close()


@as_root
@pytest.mark.parametrize("python", [p for p in PYTHONS if p.chroot], ids=str)
def test_a_perf_map_is_found_by_the_inner_number_below_the_inner_root(vigil, python, tmp_path):
    if python.version < (3, 12):
        pytest.skip("perf trampolines are of 3.12 and later")
    script = tmp_path / "jit.py"
    script.write_text("import os, time\ndef far():\n    end = time.monotonic() + 60\n    while time.monotonic() < end:\n        sum(range(50))\n"
                      "print(os.getpid(), os.path.exists(f'/tmp/perf-{os.getpid()}.map'), flush=True)\nfar()\n")
    placed = python.place(script)
    box = subprocess.Popen(["unshare", "-pf", "--kill-child", *python.argv[:-1], python.argv[-1], "-X", "perf", placed],
                           stdout=subprocess.PIPE, env=python.env())
    try:
        said = box.stdout.readline()
        if said != b"1 True\n":
            pytest.skip(f"{python.label} has no perf trampolines: {said}")
        inner = int(pathlib.Path(f"/proc/{box.pid}/task/{box.pid}/children").read_text())
        result = vigil("flame", inner, "-d", 0.7, "--native", "--format", "json")
        assert result.status == 0, result
        answer = result.json()
        assert answer["meta"].get("approximate", 0) == 0, answer["meta"]
        shown = [f["name"] for f in answer["frames"]]
        assert any(f["name"] == "far" and f["kind"] == "python" for f in answer["frames"]), shown
        assert not [name for name in shown if name.startswith("py::")], shown
    finally:
        end_tree(box)
        box.wait(10)
        box.stdout.close()
        (pathlib.Path(python.chroot) / "tmp/perf-1.map").unlink(missing_ok=True)
        python.unplace(placed)


def test_trampolines_are_not_shown_beside_the_frames_that_they_are_of(vigil, begin):
    new = [p for p in PYTHONS if p.version >= (3, 12) and not p.chroot and not p.free_threaded]
    if not new:
        pytest.skip("no Python 3.12 or later outside a chroot")
    for python in new:
        process = begin([*python.argv, "-X", "perf", "-c", SPIN], env=python.env())
        result = vigil("flame", process.pid, "-d", 0.5, "--native", "--format", "json")
        answer = result.json()
        meta = answer["meta"]
        # how many there are in half a second, and of how many the thread was paused in time, is the machine's affair
        assert meta.get("approximate", 0) == 0 and meta["merged"] > 0, (python, meta)
        assert not [f["name"] for f in answer["frames"] if f["name"].startswith("py::")], python
        pathlib.Path(f"/tmp/perf-{process.pid}.map").unlink(missing_ok=True)


@as_root
def test_ones_own_job_takes_no_privilege_and_a_foreign_one_says_which(nobodys_vigil, as_nobody):
    vigil = nobodys_vigil
    script = vigil.folder / "own.py"
    script.write_text(SLEEP)
    nobody = [*as_nobody, "--bounding-set=-all"]
    run = vigil.start("run", "--", PYTHON, script, prefix=nobody)
    assert run.stdout.readline() == b"begun\n"
    result = vigil("stack", "last", prefix=nobody)
    assert result.status == 0 and b"rest (" in result.out, result
    result = vigil("flame", "last", "-d", 0.3, "--native", "--format", "folded", prefix=nobody)
    assert result.status == 0 and b"rest (" in result.out, result
    spins = vigil.start("run", "--", PYTHON, "-c", "print('begun', flush=True)\nwhile True: pass", prefix=nobody)
    assert spins.stdout.readline() == b"begun\n"
    result = vigil("flame", "last", "-d", 0.5, "--native", "--format", "json", prefix=nobody)
    meta = result.json()["meta"]
    assert meta["pauses"] > 10 and "pauses_caught" not in meta and meta["merged"] > 10, result
    assert "the thread was stopped each time" in result.text and "CAP_BPF" in result.text, result
    other = subprocess.Popen([PYTHON, "-c", SLEEP], stdout=subprocess.PIPE)
    try:
        assert other.stdout.readline() == b"begun\n"
        for command in (["stack"], ["flame", "-d", "0.2"]):
            result = vigil(*command, other.pid, prefix=nobody)
            assert result.status == 3, result
            assert re.search(r"uid|user|root", result.text) and len(result.text.splitlines()) <= 4, result
    finally:
        other.kill()
        other.wait()
        other.stdout.close()
    run.terminate()
    vigil.finish(run)


SUB = """
import threading, time
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
run = getattr(interpreters, 'run_string', None) or interpreters.exec
inner = interpreters.create()
def host():
    run(inner, 'import time\\ndef in_sub():\\n    time.sleep(1000)\\nprint(\\'begun\\', flush=True)\\nin_sub()')
def rest():
    time.sleep(1000)
threading.Thread(target=host, daemon=True).start()
rest()
"""


@pytest.mark.parametrize("python", [p for p in PYTHONS if p.version >= (3, 12) and not p.chroot], ids=str)
def test_a_sub_interpreters_frames_are_not_given_to_another_thread(vigil, begin, python):
    process = begin([*python.argv, "-c", SUB], env=python.env())
    wait_for(lambda: state_of(process.pid) == "S")
    answer = vigil("stack", process.pid, "--json").json()["processes"][0]
    shown = {t["tid"]: [f["name"] for f in t["frames"]] for t in answer["threads"]}
    assert shown[process.pid] == ["rest", "<module>"], shown
    rows = flame(vigil, process.pid, "-d", 0.3, "--idle")
    assert not [s for s in rows if "in_sub" in s and "rest" in s], rows


@pytest.mark.parametrize("options", [[], ["--native"]], ids=["python", "native"])
def test_a_process_killed_in_the_middle_ends_the_recording(vigil, begin, options):
    for turn in range(4 if not os.environ.get("VIGIL_LONG") else 50):
        process = begin([PYTHON, "-c", SPIN])
        recorder = vigil.start("flame", process.pid, "-d", 30, "--format", "folded", "--rate", 1000, *options)
        wait_for(lambda: "vigil" in open(f"/proc/{recorder.pid}/comm").read())
        time.sleep(0.02 * turn)  # at another place each time; nothing waits for it
        process.kill()
        result = vigil.finish(recorder, 20)
        # Where the first look comes too late there is a zombie, whose parent we are.
        assert result.status in (0, 4) or (result.status == 3 and "has ended" in result.text), result


def test_what_is_stopped_and_continued_all_the_time_keeps_its_state(vigil, begin):
    process = begin([PYTHON, "-c", SPIN])
    recorder = vigil.start("flame", process.pid, "-d", 1, "--native", "--format", "folded", "--rate", 300)
    while recorder.poll() is None:
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(0.003)
        os.kill(process.pid, signal.SIGCONT)
        time.sleep(0.003)
    assert "spin" in vigil.finish(recorder).out.decode()
    unharmed(process.pid)
    os.kill(process.pid, signal.SIGSTOP)
    wait_for(lambda: state_of(process.pid) == "T")
    for _ in range(3):
        assert vigil("stack", process.pid, "--native").status == 0
        flame(vigil, process.pid, "-d", 0.1, "--native", "--idle")
        assert state_of(process.pid) == "T"
    os.kill(process.pid, signal.SIGCONT)
    wait_for(lambda: state_of(process.pid) == "R")
    unharmed(process.pid)


FILTER = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
refused = [int(n) for n in sys.argv[1].split(',')]
code = struct.pack('HBBI', 0x20, 0, 0, 0)
for i, n in enumerate(refused):
    code += struct.pack('HBBI', 0x15, len(refused) - i, 0, n)
code += struct.pack('HBBI', 6, 0, 0, 0x7fff0000) + struct.pack('HBBI', 6, 0, 0, 0x00050001)
class Program(ctypes.Structure):
    _fields_ = [('n', ctypes.c_ushort), ('code', ctypes.c_char_p)]
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Program(len(code) // 8, code)), 0, 0) == 0
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the filter has x86_64's numbers of system calls")
@pytest.mark.parametrize("refused", ["310", "101", "101,310"], ids=["process_vm_readv", "ptrace", "both"])
def test_a_filter_that_refuses_calls_costs_native_frames_only(vigil, begin, refused):
    process = begin([PYTHON, "-c", SPIN])
    filtered = [PYTHON, "-c", FILTER, refused]
    found = names(vigil("stack", process.pid, "--json", "--native", prefix=filtered))
    assert "spin" in found and "<module>" in found, found
    assert any("spin" in s for s in flame(vigil, process.pid, "-d", 0.3, "--native", prefix=filtered))
    unharmed(process.pid)


def test_a_python_whose_file_is_gone_or_is_another_by_now_is_read(vigil, begin, tmp_path):
    copy = tmp_path / "python3.copy"
    shutil.copy(os.path.realpath(PYTHON), copy)
    process = begin([copy, "-c", SPIN])
    copy.unlink()
    for content in (None, "/bin/true"):
        if content:
            shutil.copy(content, copy)
        for options in ([], ["--native"]):
            found = names(vigil("stack", process.pid, "--json", *options))
            assert found[:2] == ["spin", "<module>"] or {"spin", "<module>"} <= set(found), found
    unharmed(process.pid)
