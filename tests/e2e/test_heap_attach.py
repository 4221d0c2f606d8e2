"""Loading the heap sampler into programs that run, and out again; profiles of `vigil run --heap`.

Whatever is done to a program, it must go on as if nothing had been: each test looks at the program afterwards.
VIGIL_TEST_INJECTIONS (5): how often each kind of program is injected; the bench takes 150.
"""
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys

import pytest

import pythons
from conftest import ROOT, WORKLOADS, wait_for

BINARY = pathlib.Path(os.environ.get("VIGIL", ROOT / "build/src/cli/vigil")).resolve()
BUILD = BINARY.parents[2]
INJECT, HEAP = BUILD / "tests/tool/injecttool", BUILD / "tests/tool/heaptool"
INJECTEE, LIBRARY = BUILD / "tests/tool/libinjectee.so", BUILD / "preload/libvigil_heap.so"
TIMES = int(os.environ.get("VIGIL_TEST_INJECTIONS", "5"))
# Loads and allocates all the time.
IMPORTS = """
import sys, importlib
base = set(sys.modules)
print("ready", flush=True)
while True:
    for name in ("json", "decimal", "_decimal", "_bz2", "_lzma", "ctypes", "sqlite3"):
        for k in [k for k in sys.modules if k not in base]:
            del sys.modules[k]
        importlib.import_module(name)
"""
NUMPY = """
import numpy
a = numpy.random.rand(200, 200)
print("ready", flush=True)
while True:
    b = a @ a
    c = [numpy.ones(1000) for _ in range(100)]
"""
ALLOCATES = """
import sys, time
def take_more(kept):
    kept.append(bytearray(1 << 20))
def main():
    kept = []
    print("ready", flush=True)
    while True:
        take_more(kept)
        if len(kept) > 50:
            kept.clear()
        time.sleep(0.001)
main()
"""

pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason="a build without the heap library (sanitizers)")


def region(path):
    """The figures in a profile's header: docs/formats/heap.md."""
    data = pathlib.Path(path).read_bytes()
    if len(data) < 2080:  # it is being made
        return dict(whole=False, samples=0, rate=None, state=0, pid=0, origin=0, data=data)
    magic, version, header_bytes, file_bytes = struct.unpack_from("=QIIQ", data)
    pid, ppid, start, generation, origin = struct.unpack_from("=iiQII", data, 216)
    state, = struct.unpack_from("=I", data, 264)
    last, rate, requested, samples, frees = struct.unpack_from("=5Q", data, 272)
    return dict(whole=magic == 0x3150484C49474956 and version == 1 and file_bytes <= len(data), pid=pid, ppid=ppid,
                origin=origin, state=state, rate=rate, samples=samples, data=data)


@pytest.fixture(scope="session")
def targets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("targets")
    for name, flags in (("targets", ["-pthread", "-mavx2"]), ("static", ["-pthread", "-mavx2", "-static"])):
        subprocess.run(["cc", "-O1", *flags, str(WORKLOADS / "inject/targets.c"), "-o", str(folder / name)], check=True)
    return folder


@pytest.fixture
def start():
    """start(argv) runs a program and waits until it says "ready"; it is ended with the test."""
    running = []

    def begin(argv, **more):
        p = subprocess.Popen([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
        running.append(p)
        assert p.stdout.readline().strip() == b"ready"
        return p

    yield begin
    for p in running:
        p.send_signal(signal.SIGCONT)
        p.kill()
        p.wait(timeout=20)


def tool(*args):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True, timeout=120)
    return done.stdout.strip() + done.stderr


def inject(pid, times=1):
    return tool(INJECT, INJECTEE, "injectee_call", pid, times, 2000).splitlines()


def attach(pid, state, *rate):
    """The profile's folder."""
    said = tool(HEAP, "attach", pid, state, *rate)
    assert said.startswith("result 0 "), said
    return pathlib.Path(re.search(r"folder (\S+)", said)[1])


def command(targets, kind):
    if kind == "import":
        return ["/usr/bin/python3", "-c", IMPORTS]
    if kind == "numpy":
        return ["/usr/bin/python3", "-c", NUMPY]
    return [targets / "targets", kind]


@pytest.mark.parametrize("kind", ["sleep", "futex", "malloc", "fork", "epoll", "errno", "vector", "qsort", "import", "numpy"])
def test_a_program_goes_on_after_injections(targets, start, kind):
    p = start(command(targets, kind))
    lines = inject(p.pid, TIMES)
    assert len(lines) == TIMES
    for i, line in enumerate(lines):
        assert re.match(rf"result 0 value {i + 42} out {2 * (i + 1)} tid \d+ ", line), line
    # the first one loads it, the others only call
    assert " loaded 0 " in lines[0] and all(" loaded 1 " in line for line in lines[1:])
    status = pathlib.Path(f"/proc/{p.pid}/status").read_text()
    assert "TracerPid:\t0" in status and p.poll() is None
    before = os.sched_getaffinity(p.pid)  # it is still there to be asked
    assert before


def test_a_thread_that_leaves_malloc_while_it_is_being_stopped_does_not_die_of_it(targets, start):
    """It is let go on for 2 us only, so it meets the breakpoint at the very moment it is asked to stop."""
    p = start([targets / "targets", "malloc"])
    for line in tool(INJECT, INJECTEE, "injectee_call", p.pid, 150, 20, 2000).splitlines():
        assert re.match(r"result (0|51) ", line), line
    assert p.poll() is None


def test_a_stopped_program_is_refused_and_stays_stopped(targets, start):
    p = start([targets / "targets", "sleep"])
    p.send_signal(signal.SIGSTOP)
    wait_for(lambda: "T (stopped)" in pathlib.Path(f"/proc/{p.pid}/status").read_text())
    said, = inject(p.pid)
    assert said.startswith("result 50 ") and "is stopped" in said and f"kill -CONT {p.pid}" in said
    assert "T (stopped)" in pathlib.Path(f"/proc/{p.pid}/status").read_text()


def test_what_cannot_be_injected_is_refused_with_its_reason(targets, start):
    static = start([targets / "static", "sleep"])
    said, = inject(static.pid)
    assert said.startswith("result 50 ") and "static program" in said and static.poll() is None
    said, = inject(2)  # a thread of the kernel, or nobody
    assert re.match(r"result (50|3) ", said)
    zombie = subprocess.Popen(["true"])
    wait_for(lambda: "Z (zombie)" in pathlib.Path(f"/proc/{zombie.pid}/status").read_text())
    said, = inject(zombie.pid)
    zombie.wait()
    assert said.startswith("result 50 ") and "has ended" in said
    said, = inject(zombie.pid)
    assert said.startswith("result 3 "), said


@pytest.mark.skipif(not shutil.which("strace"), reason="no strace")
def test_a_traced_program_is_refused(targets, start):
    p = start([targets / "targets", "sleep"])
    tracer = subprocess.Popen(["strace", "-qq", "-o", "/dev/null", "-p", str(p.pid)])
    try:
        wait_for(lambda: f"TracerPid:\t{tracer.pid}" in pathlib.Path(f"/proc/{p.pid}/status").read_text())
        said, = inject(p.pid)
        assert said.startswith("result 50 ") and f"traced by process {tracer.pid}" in said
    finally:
        tracer.terminate()
        tracer.wait()
    assert p.poll() is None


FILTER = """
import ctypes, struct, time
libc = ctypes.CDLL(None)
allow = struct.pack("HBBI", 6, 0, 0, 0x7fff0000)
keep = ctypes.create_string_buffer(allow)
program = struct.pack("HxxxxxxQ", 1, ctypes.addressof(keep))
libc.prctl(38, 1, 0, 0, 0)
assert libc.prctl(22, 2, program, 0, 0) == 0
print("ready", flush=True)
time.sleep(1000)
"""


def test_a_program_with_a_filter_of_its_own_is_left_alone(start):
    p = start(["/usr/bin/python3", "-c", FILTER])
    said, = inject(p.pid)
    assert said.startswith("result 50 ") and "seccomp" in said and p.poll() is None


def contained(start, kind, who, command):
    """A program under seccomp filters in a pid namespace of its own: its number out here."""
    p = start(["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", sys.executable,
               WORKLOADS / "inject/contained.py", kind, who, *command])

    def innermost():
        pid = p.pid
        while children := pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            pid = int(children[0])
        return pid
    return innermost()


def namespaces():
    done = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], capture_output=True)
    return done.returncode == 0


in_container = pytest.mark.skipif(os.geteuid() != 0 or not namespaces(), reason="takes root and pid namespaces")


@in_container
@pytest.mark.parametrize("who", ["child", "first"])
def test_a_containers_own_filter_is_no_hindrance(start, tmp_path, who):
    pid = contained(start, "usual", who, ["/usr/bin/python3", "-c", ALLOCATES])
    assert "Seccomp:\t2" in pathlib.Path(f"/proc/{pid}/status").read_text()
    folder = attach(pid, tmp_path / "state", 65536)
    file = wait_for(lambda: next(iter(folder.glob("*.heap")), None), what="the profile")
    wait_for(lambda: region(file)["samples"] > 20, what="samples")
    assert b"take_more" in region(file)["data"]
    assert tool(HEAP, "detach", pid, tmp_path / "state").startswith("result 0 ")
    assert pathlib.Path(f"/proc/{pid}/stat").exists()


@in_container
@pytest.mark.parametrize("kind,who,word", [("usual", "own:usual", "not its container's"), ("none", "own:usual", "not its container's"),
                                           ("deadly", "child", "for the call mincore"), ("deadly", "first", "for the call mincore"),
                                           ("by-argument", "child", "for the call mprotect")])
def test_a_filter_that_may_end_the_program_is_left_alone(targets, start, tmp_path, kind, who, word):
    pid = contained(start, kind, who, [targets / "targets", "sleep"])
    said = tool(HEAP, "attach", pid, tmp_path / "state")
    assert said.startswith("result 50 ") and word in said, said
    assert pathlib.Path(f"/proc/{pid}/stat").exists()


@in_container
@pytest.mark.skipif(not shutil.which("setpriv"), reason="no setpriv")
def test_who_cannot_read_filters_goes_by_whose_they_are(targets, start, tmp_path):
    """CAP_SYS_ADMIN is what reading them takes; CAP_SYS_PTRACE is enough for the rest."""
    less = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", str(HEAP), "attach"]
    for who, result in (("child", "result 0 "), ("first", "result 50 ")):
        pid = contained(start, "usual", who, [targets / "targets", "sleep"])
        said = tool(*less, pid, tmp_path / "state")
        assert said.startswith(result), said
    assert "is the first of its container" in said


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="takes root and setpriv")
def test_a_tmp_that_the_user_cannot_write_is_named(vigil, start, tmp_path):
    """Below a bind mount, for example. That the process can be looked into is no reason."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o755)
    under = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "/usr/bin/python3", "-c", ALLOCATES]
    p = start(["unshare", "--mount", "--propagation", "private", "sh", "-c", 'mount --bind "$0" /tmp && exec "$@"', closed, *under])
    refused = vigil("heap", p.pid, "--attach", "-d", "1s")
    assert refused.status == 3, refused
    assert re.search(rf"no folder for the profile of process {p.pid} could be made: /tmp/vigil-heap-\S+, as its user: Permission denied",
                     refused.text), refused.text
    assert not list(closed.iterdir())


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="takes root and setpriv")
def test_without_the_right_to_trace_it_says_which_is_missing(targets, start, tmp_path):
    p = start([targets / "targets", "sleep"])
    drop = ["setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace", "--reuid=65534", "--clear-groups"]
    done = subprocess.run([*drop, str(HEAP), "attach", str(p.pid), "/tmp/nobodys-state"], capture_output=True, text=True)
    assert done.stdout.startswith("result 2 ") and len(done.stdout) > 30, done.stdout + done.stderr
    assert p.poll() is None


@pytest.mark.parametrize("kind", ["exec", "short"])
def test_a_program_that_goes_away_meanwhile_is_no_trouble(targets, start, kind):
    p = start([targets / "targets", kind])
    for _ in range(20):
        for said in inject(p.pid):
            assert re.match(r"result (0|3|51) ", said) or "has ended" in said, said
    if kind == "short":
        assert p.wait(timeout=20) == 0
    else:
        assert p.poll() is None


@pytest.mark.parametrize("python", pythons.find(), ids=str)
def test_attach_and_detach_every_python(python, start, tmp_path):
    script = tmp_path / "allocates.py"
    script.write_text(ALLOCATES)
    placed = python.place(script)
    try:
        p = start([*python.argv, placed], env=python.env())
        folder = attach(p.pid, tmp_path / "state", 65536)
        file = wait_for(lambda: next(iter(folder.glob("*.heap")), None), what="the profile")
        wait_for(lambda: region(file)["samples"] > 20, what="samples")
        r = region(file)
        assert r["whole"] and r["origin"] == 3 and r["rate"] == 65536
        assert b"take_more" in r["data"], "the Python function is named"
        said = tool(HEAP, "detach", p.pid, tmp_path / "state")
        assert said.startswith("result 0 ") and int(re.search(r"slots (\d+)", said)[1]) > 5
        assert region(file)["state"] == 3
        before = region(file)["samples"]
        ticks = sum(map(int, pathlib.Path(f"/proc/{p.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))
        wait_for(lambda: sum(map(int, pathlib.Path(f"/proc/{p.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13])) > ticks + 2)
        assert region(file)["samples"] == before, "nothing is sampled any more"
        assert p.poll() is None
    finally:
        python.unplace(placed)


def test_attach_for_a_while_shows_and_detaches(start, vigil, tmp_path):
    """Until the time is over, or Ctrl-C: either way the program has its own calls back."""
    script = tmp_path / "allocates.py"
    script.write_text(ALLOCATES)
    p = start([sys.executable, script])
    done = vigil("heap", p.pid, "--attach", "-d", "1s", "--rate", "64K", "-w", "leaks")
    assert done.status == 0 and "take_more" in done.out.decode() and "is held at its end" in done.out.decode(), done
    assert "nothing is sampled any more" in vigil("heap", p.pid).out.decode()
    process = vigil.start("heap", str(p.pid), "--attach", "-d", "10m", "--rate", "64K", "-w", "peak")

    def sampled():
        out = vigil("heap", p.pid, "-w", "peak").out.decode()
        return "running" in out.splitlines()[0] and "take_more" in out
    wait_for(sampled, what="samples")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 0 and "take_more" in out.decode(), out
    assert "nothing is sampled any more" in vigil("heap", p.pid).out.decode()
    for words, said in (["-d", "0"], "0.1 seconds"), (["-d", "1s", "-w", "growth"], "without a sampler"):
        wrong = vigil("heap", p.pid, "--attach", *words)
        assert wrong.status == 2 and said in wrong.text and len(wrong.text.splitlines()) == 1, wrong


# 30,000 places that hold one of these functions: more than one short stop can look through.
MANY_CALLS = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define A(x) (void *)malloc, (void *)free, (void *)calloc,
#define T(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x)
#define H(x) T(x) T(x) T(x) T(x) T(x) T(x) T(x) T(x) T(x) T(x)
#define K(x) H(x) H(x) H(x) H(x) H(x) H(x) H(x) H(x) H(x) H(x)
void *table[] = {K(0) K(1) K(2) K(3) K(4) K(5) K(6) K(7) K(8) K(9)};
int main(void)
{
	puts("ready");
	fflush(stdout);
	for (size_t i = 0;; i = (i + 3) % (sizeof(table) / sizeof(*table))) {
		void *(*take)(size_t) = table[i];
		void (*give)(void *) = table[i + 1];
		give(take(100));
		if (i == 0)
			usleep(100);
	}
}
"""


def test_a_file_with_very_many_calls_takes_several_stops(start, tmp_path):
    (tmp_path / "many.c").write_text(MANY_CALLS)
    subprocess.run(["cc", "-O0", "-fPIE", "-pie", tmp_path / "many.c", "-o", tmp_path / "many"], check=True)
    p = start([tmp_path / "many"])
    said = tool(HEAP, "attach", p.pid, tmp_path / "state", 65536)
    assert said.startswith("result 0 "), said
    longest, total, tries = map(int, re.search(r"stopped_us (\d+) sum_us (\d+) tries (\d+)", said).groups())
    slots = int(re.search(r"slots (\d+)", said)[1])
    assert slots > 100 and tries > 2 and total > longest > 0, said  # samples find the rest at the same time
    folder = pathlib.Path(re.search(r"folder (\S+)", said)[1])
    file = wait_for(lambda: next(iter(folder.glob("*.heap")), None), what="the profile")
    wait_for(lambda: region(file)["samples"] > 20, what="samples")
    said = tool(HEAP, "detach", p.pid, tmp_path / "state")
    assert int(re.search(r"slots (\d+)", said)[1]) >= 30000
    assert p.poll() is None


WORKERS = """
import os, time
pids = []
for _ in range(64):
    pid = os.fork()
    if pid == 0:
        kept = []
        while True:
            kept.append(bytearray(1 << 16))
            if len(kept) > 100:
                kept.clear()
            time.sleep(0.01)
    pids.append(pid)
print("ready", flush=True)
def parent():
    kept = []
    while True:
        kept.append(bytearray(1 << 20))
        if len(kept) > 20:
            kept.clear()
        time.sleep(0.002)
        assert os.waitpid(-1, os.WNOHANG) == (0, 0)
parent()
"""


def test_attach_while_64_workers_run(start, tmp_path):
    p = start(["/usr/bin/python3", "-c", WORKERS], start_new_session=True)
    try:
        folder = attach(p.pid, tmp_path, 65536)
        wait_for(lambda: any(region(f)["samples"] > 5 for f in folder.glob("*.heap")))
        children = pathlib.Path(f"/proc/{p.pid}/task/{p.pid}/children").read_text().split()
        assert len(children) == 64
        for child in children[:3]:
            attach(child, tmp_path, 65536)
        assert p.poll() is None
        assert len(pathlib.Path(f"/proc/{p.pid}/task/{p.pid}/children").read_text().split()) == 64
    finally:
        os.killpg(p.pid, signal.SIGKILL)


def test_growth_shows_where_memory_is_touched(start):
    p = start([sys.executable, WORKLOADS / "grower.py"])
    said = tool(HEAP, "growth", p.pid, 2)
    shown = sum(int(line.rsplit(" ", 1)[1]) for line in said.splitlines() if "take_more (grower.py" in line)
    every = sum(int(line.rsplit(" ", 1)[1]) for line in said.splitlines())
    assert every > 20 and shown > 0.5 * every, said[:2000]


# ---- vigil run --heap


def profiles(state):
    return sorted(pathlib.Path(state).glob("jobs/*/attempt-*/heap/*.heap"))


CHILDREN = """
import os, subprocess, sys
keep = [bytearray(1 << 20) for _ in range(20)]
if len(sys.argv) == 1:
    if os.fork() == 0:
        keep += [bytearray(1 << 20) for _ in range(20)]
        os._exit(0)
    os.wait()
    subprocess.run([sys.executable, __file__, "again"], check=True)
    assert os.environ["LD_PRELOAD"].split(":")[0].endswith("libvigil_heap.so")
"""


def test_each_process_of_a_job_has_a_profile(vigil, tmp_path):
    script = tmp_path / "children.py"
    script.write_text(CHILDREN)
    done = vigil("run", "--heap", "--heap-rate", "64K", "--", "/usr/bin/python3", script)
    assert done.status == 0, done
    found = [region(p) for p in profiles(vigil.state)]
    assert len(found) == 3 and all(r["whole"] and r["samples"] > 10 for r in found)
    assert sorted(r["origin"] for r in found) == [0, 0, 1], "two by start, one by fork"


def test_the_users_own_preload_is_kept(vigil, tmp_path):
    show = "import os; print(os.environ['LD_PRELOAD'])"
    done = vigil("run", "--heap", "--", "/usr/bin/python3", "-c", show, env={"LD_PRELOAD": str(INJECTEE)})
    assert done.status == 0, done
    assert done.out.decode().strip() == f"{LIBRARY}:{INJECTEE}"


def test_programs_that_cannot_be_sampled_run_all_the_same(vigil, targets):
    done = vigil("run", "--heap", "--", targets / "static", "short")
    assert done.status == 0 and done.out == b"ready\n" and not profiles(vigil.state)
    done = vigil("run", "--heap", "--", "su", "--version")  # setuid: the loader drops the library
    assert done.status == 0, done


def test_a_dormant_job_is_switched_on_and_off(vigil, tmp_path):
    running = vigil.start("run", "--heap-dormant", "--", "/usr/bin/python3", "-c", ALLOCATES)
    file = wait_for(lambda: next(iter(profiles(vigil.state)), None), what="the dormant profile")
    wait_for(lambda: region(file)["whole"])
    assert region(file)["rate"] == 0 and region(file)["samples"] == 0
    assert tool(HEAP, "switch", file.parent, 65536) == "result 0 regions 1"
    wait_for(lambda: region(file)["samples"] > 20)
    assert tool(HEAP, "switch", file.parent, 0) == "result 0 regions 1"
    assert region(file)["rate"] == 0
    assert running.poll() is None


def test_profiles_survive_sigkill_at_any_moment(vigil, tmp_path):
    chance = random.Random(7)
    for i in range(max(TIMES, 5)):
        running = vigil.start("run", "--heap", "--heap-rate", "16K", "--name", f"k{i}", "-q", "--", "/usr/bin/python3",
                              "-c", ALLOCATES)
        folder = pathlib.Path(vigil.state, "jobs")
        file = wait_for(lambda: next((p for p in profiles(vigil.state) if f"/k{i}-" in str(p)), None))
        wait_for(lambda: region(file)["samples"] > chance.randrange(1, 400))
        os.kill(region(file)["pid"], signal.SIGKILL)
        running.wait(timeout=30)
        r = region(file)
        assert r["whole"] and r["samples"] > 0 and r["state"] == 1, f"{folder}: killed, and says so"
