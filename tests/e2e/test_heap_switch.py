"""vigil heap --attach, --detach, --start, --stop and --rate, as a person types them."""
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

from conftest import wait_for
from test_heap_attach import ALLOCATES, LIBRARY, profiles, region

pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason="a build without the heap library (sanitizers)")
# Loads its library by dlopen when a line says so: that library's own calls of malloc must be led to the sampler.
LOADS_LATER = """
import ctypes, sys, time
print("ready", flush=True)
library = ctypes.CDLL(sys.stdin.readline().strip())
library.takes_and_gives()
print("loaded", flush=True)
while True:
    library.takes_and_gives()
    bytearray(8192)  # new libraries are looked for when something is sampled
    time.sleep(0.001)
"""
LIBRARY_C = """
#include <stdlib.h>
void *volatile kept;
void takes_and_gives(void)
{
	for (int i = 0; i < 64; i++) {
		kept = malloc(5000);
		free(kept);
	}
}
"""


@pytest.fixture
def program():
    running = []

    def begin(text):
        p = subprocess.Popen(["/usr/bin/python3", "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        running.append(p)
        assert p.stdout.readline() == b"ready\n"
        return p

    yield begin
    for p in running:
        p.kill()
        p.wait(timeout=20)


def attach(vigil, pid, *options):
    done = vigil("heap", pid, "--attach", *options)
    assert done.status == 0, done
    said = re.search(r"stood still for ([\d.]+) ms at once; the profile is in (\S+)", done.err.decode())
    assert said, done
    return pathlib.Path(said[2])


def test_attach_and_detach(vigil, program):
    p = program(ALLOCATES)
    folder = attach(vigil, p.pid, "--rate", "64K")
    file, = folder.glob("*.heap")
    assert region(file)["whole"] and region(file)["rate"] == 65536 and region(file)["pid"] == p.pid
    wait_for(lambda: region(file)["samples"] > 20)
    assert attach(vigil, p.pid, "--rate", "128K") == folder  # a second time: only the rate
    assert list(folder.glob("*.heap")) == [file] and region(file)["rate"] == 131072
    wait_for(lambda: any("take_more" in s["text"] for s in vigil("heap", p.pid, "--what", "peak", "--json").json()["stacks"]))
    done = vigil("heap", p.pid, "--detach")
    assert done.status == 0 and re.search(rb"sampling has ended, \d+ places in \d+ files are its own again", done.err), done
    assert region(file)["state"] == 3 and p.poll() is None
    report = vigil("heap", p.pid, "--json").json()
    assert [one["state"] for one in report["processes"]] == ["detached"]
    assert b"detached: nothing is sampled any more" in vigil("heap", p.pid).out
    attach(vigil, p.pid, "--rate", "16K")  # and again: a profile of its own
    assert len(list(folder.glob("*.heap"))) == 2 and p.poll() is None
    wait_for(lambda: any(region(f)["samples"] > 20 and region(f)["rate"] == 16384 for f in folder.glob("*.heap")))
    table = vigil("heap", p.pid).out
    assert b"1 process, running;" in table and b"1 earlier profile" in table and b"switched off" not in table, table

    def states():
        report = vigil("heap", p.pid, "--json").json()
        return [(one["state"], one["live"]["bytes"] > 0) for one in report["processes"]]
    # between two rounds of the program nothing that was sampled lives
    wait_for(lambda: states() == [("detached", False), ("running", True)])


def test_attached_again_and_again(vigil, program):
    """What the injected call returns to is no caller: unwinding it met whatever lay on the stack, one time in three."""
    p = program(ALLOCATES)
    for _ in range(10):
        attach(vigil, p.pid, "--rate", "16K")
        assert vigil("heap", p.pid, "--detach").status == 0
    assert p.poll() is None


STORM = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *storm(void *arg)
{
	void *kept[64] = {0};
	for (unsigned i = (unsigned)(long)arg;; i = i * 1664525u + 1013904223u) {
		void **at = &kept[i >> 8 & 63];
		free(*at);
		*at = malloc(16 + (i >> 16 & 8191));
		memset(*at, 1, 16);
	}
	return NULL;
}
int main(void)
{
	pthread_t t[3];
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, storm, (void *)i);
	puts("ready");
	fflush(stdout);
	storm((void *)9);
}
"""


def kept_of(pid):
    """KiB in memory of the mappings of profiles, and of the library."""
    size = {"heap": 0, "library": 0}
    kind = None
    for line in pathlib.Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            kind = "heap" if line.endswith(".heap") else "library" if line.endswith("libvigil_heap.so") else None
        elif kind and line.startswith("Rss:"):
            size[kind] += int(line.split()[1])
    return size


def test_detached_under_four_threads_that_allocate_all_the_time(vigil, tmp_path):
    """The profile's pages go while threads may be in the middle of a sample or of a free; what stays is small, and said."""
    source, storm = tmp_path / "storm.c", tmp_path / "storm"
    source.write_text(STORM)
    subprocess.run(["cc", "-O1", "-pthread", source, "-o", storm], check=True)
    p = subprocess.Popen([storm], stdout=subprocess.PIPE)
    try:
        assert p.stdout.readline() == b"ready\n"
        for n in range(12):
            folder = attach(vigil, p.pid, "--rate", "4K")
            newest = max(folder.glob("*.heap"), key=lambda f: f.stat().st_ctime_ns)
            wait_for(lambda: region(newest)["samples"] > 200)
            assert kept_of(p.pid)["heap"] > 250 + 4 * n
            done = vigil("heap", p.pid, "--detach")
            assert done.status == 0 and b"the library stays loaded, unused" in done.err, done
            assert kept_of(p.pid)["heap"] <= 4 * (n + 1) and p.poll() is None  # a header of each
        # what was written before is all there
        report = vigil("heap", p.pid, "--json").json()
        assert len(report["processes"]) == 12 and all(one["total"]["bytes"] > 0 for one in report["processes"])
        assert sum(kept_of(p.pid).values()) < 1000
        ticks = sum(map(int, pathlib.Path(f"/proc/{p.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))
        wait_for(lambda: sum(map(int, pathlib.Path(f"/proc/{p.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13])) > ticks + 2)
        assert p.poll() is None
    finally:
        p.kill()
        p.wait()


def test_a_library_that_is_loaded_after_the_attach_is_seen(vigil, program, tmp_path):
    source, library = tmp_path / "later.c", tmp_path / "liblater.so"
    source.write_text(LIBRARY_C)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", source, "-o", library], check=True)
    p = program(LOADS_LATER)
    folder = attach(vigil, p.pid, "--rate", "16K")
    assert len(list(folder.glob("*.heap"))) == 1
    p.stdin.write(f"{library}\n".encode())
    p.stdin.flush()
    assert p.stdout.readline() == b"loaded\n"
    wait_for(lambda: any(f["name"] == "takes_and_gives"
                         for s in vigil("heap", p.pid, "--what", "temporary", "--json").json()["stacks"] for f in s["frames"]), 15)
    assert p.poll() is None


def test_a_dormant_job_is_started_and_stopped(vigil):
    job = vigil.start("run", "--heap-dormant", "--", "/usr/bin/python3", "-c", ALLOCATES)
    file = wait_for(lambda: next(iter(profiles(vigil.state)), None))
    wait_for(lambda: region(file)["whole"])
    assert region(file)["rate"] == 0
    done = vigil("heap", "last", "--start", "--rate", "64K")
    assert done.status == 0 and b"one sample each 64.0 KiB" in done.err, done
    assert region(file)["rate"] == 65536
    wait_for(lambda: region(file)["samples"] > 20)
    done = vigil("heap", "last", "--stop")
    assert done.status == 0 and b"sampling is off; 1 process told" in done.err, done
    assert region(file)["rate"] == 0 and job.poll() is None


def test_what_cannot_be_switched_is_said(vigil, program):
    p = program(ALLOCATES)
    done = vigil("heap", p.pid, "--start")
    assert done.status == 4 and b"--attach' loads the sampler" in done.err, done
    done = vigil("heap", p.pid, "--attach", "--detach")
    assert done.status == 2 and b"not several" in done.err
    done = vigil("heap", p.pid, "--attach", "--rate", "1K")
    assert done.status == 2 and b"--rate: expected 4 KiB to 16 MiB" in done.err
    done = vigil("heap", 4194300, "--attach")
    assert done.status == 4, done


def test_a_process_that_was_never_attached_is_left_alone_by_detach(vigil, program):
    p = program(ALLOCATES)
    done = vigil("heap", p.pid, "--detach")
    assert done.status == 4 and b"is not sampled: vigil's heap library was never loaded into it" in done.err, done
    assert "vigil" not in pathlib.Path(f"/proc/{p.pid}/maps").read_text()


STUCK_IN_MALLOC = """
#define _GNU_SOURCE
#include <stddef.h>
#include <time.h>
extern void *__libc_malloc(size_t);
void *malloc(size_t n)
{
	struct timespec step = {.tv_nsec = 1000000}, begun, now;
	clock_gettime(CLOCK_MONOTONIC, &begun);
	for (now = begun; n == 123457 && now.tv_sec < begun.tv_sec + 3; clock_gettime(CLOCK_MONOTONIC, &now))
		nanosleep(&step, NULL); /* cut short when the thread is stopped */
	return __libc_malloc(n);
}
"""


def test_attach_goes_on_until_a_thread_is_at_a_safe_place(vigil, tmp_path):
    """Its one thread is inside malloc for 2 to 3 s, longer than one search for a safe place takes."""
    (tmp_path / "stuck.c").write_text(STUCK_IN_MALLOC)
    (tmp_path / "program.c").write_text("#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
                                        "int main(void) { puts(\"ready\"); fflush(stdout); void *volatile p = malloc(123457);\n"
                                        "for (;;) { free(p); p = malloc(9000); usleep(1000); } }\n")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "stuck.c", "-o", "libstuck.so"], cwd=tmp_path, check=True)
    subprocess.run(["gcc", "-O1", "-fno-builtin", "program.c", "-o", "program"], cwd=tmp_path, check=True)
    p = subprocess.Popen([str(tmp_path / "program")], stdout=subprocess.PIPE,
                         env={**os.environ, "LD_PRELOAD": str(tmp_path / "libstuck.so")})
    try:
        assert p.stdout.readline() == b"ready\n"
        attach(vigil, p.pid)
        assert p.poll() is None
    finally:
        p.kill()
        p.wait()


FORKS = """
import os, sys, time
print("ready", flush=True)
sys.stdin.readline()
child = os.fork()
kept = []
if child:
    print("child", child, flush=True)
while True:
    kept = [bytes(1 << 20) for _ in range(30)]
    time.sleep(0.05)
"""


def test_what_an_attached_process_left_is_found_by_its_number_and_its_childs(vigil, program):
    p = program(FORKS)
    attach(vigil, p.pid, "--rate", "64K")
    p.stdin.write(b"\n")
    p.stdin.flush()
    child = int(p.stdout.readline().split()[1])
    report = wait_for(lambda: (lambda r: r.status == 0 and r.json())(vigil("heap", child, "--json")), 20, "the child's profile")
    assert [one["pid"] for one in report["processes"]] == [child]
    done = vigil("heap", p.pid, "--detach")
    assert b"stays loaded" in done.err and b"forked meanwhile" in done.err, done
    for pid in (child, p.pid):
        os.kill(pid, signal.SIGKILL)
    p.wait(timeout=20)
    result = vigil("heap", p.pid)
    assert result.status == 0 and b"process %d: 2 processes" % p.pid in result.out, result


def test_what_cannot_have_a_profile_is_said_to_be_so(vigil, tmp_path):
    source, static = tmp_path / "st.c", tmp_path / "st"
    source.write_text("#include <stdlib.h>\n#include <unistd.h>\nint main(int n, char **v) { void *volatile p = malloc(4 << 20); "
                      "(void)p; (void)v; if (n > 1) sleep(60); return 0; }\n")
    subprocess.run(["cc", "-O1", "-static", "-o", static, source], check=True)
    assert vigil("run", "--heap", "--name", "st", "--", static).status == 0
    result = vigil("heap", "st")
    assert result.status == 4 and "has ended" in result.text and "(yet)" not in result.text, result
    running = subprocess.Popen([static, "wait"])
    try:
        result = wait_for(lambda: (lambda r: "static" in r.text and r)(vigil("heap", running.pid)), 20)
        assert result.status == 4 and "--what growth" in result.text and "--attach" not in result.text, result
    finally:
        running.kill()
        running.wait(timeout=20)
    job = vigil.start("run", "--name", "plain", "--", "sleep", "60")
    result = wait_for(lambda: (lambda r: "no heap profile" in r.text and r)(vigil("heap", "plain")), 20)
    assert result.status == 4 and "--attach" in result.text, result
    job.send_signal(signal.SIGTERM)
    vigil.finish(job)


TAKES = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
	for (int i = 0; i < 40; i++)
		memset(malloc(1 << 20), 1, 1 << 20);
	puts("done");
	return 0;
}
"""


@pytest.mark.parametrize("kind, word", [("dynamic", None), ("static", "a static program"), ("script", "a static program"),
                                        ("musl", "no program of glibc"), ("setuid", "gets other rights"), ("tiny", None)])
def test_a_program_that_cannot_have_a_profile_is_told_in_one_sentence(vigil, tmp_path, kind, word):
    """It runs as without --heap, and what is said is said once; where there is a profile nothing is."""
    source, program = tmp_path / "takes.c", tmp_path / "takes"
    source.write_text(TAKES)
    compiler = ["musl-gcc"] if kind == "musl" else ["cc", "-static"] if kind in ("static", "script") else ["cc"]
    if not shutil.which(compiler[0]):
        pytest.skip(f"no {compiler[0]}")
    subprocess.run([*compiler, source, "-o", program], check=True)
    if kind == "setuid":
        if os.geteuid() != 0:
            pytest.skip("takes another user's file")
        os.chown(program, 65534, 65534)
        program.chmod(0o4755)
    if kind == "script":
        (tmp_path / "script").write_text(f"#! {program} --option\n")
        (tmp_path / "script").chmod(0o755)
    argv = [tmp_path / "script"] if kind == "script" else ["true"] if kind == "tiny" else [program]
    done = vigil("run", "--heap", "--", *argv)
    assert done.status == 0 and done.out == (b"" if kind == "tiny" else b"done\n"), done
    said = [line for line in done.err.decode().splitlines() if "heap profile" in line]
    if word:
        assert len(said) == 1 and word in said[0] and str(program) in said[0], done
    elif kind == "tiny":
        assert len(said) == 1 and "no heap profile was left" in said[0], done
    else:
        assert said == [], done
        assert vigil("heap", "last").status == 0
    quiet = vigil("run", "--heap", "--quiet", "--", "true")
    assert b"heap profile" not in quiet.err, quiet
