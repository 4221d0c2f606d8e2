"""A user's program brings debug information that names other files, or grows when it is read, and root's vigil looks at its stack."""
import os
import pathlib
import shutil
import struct
import subprocess
import time
import zlib

import psutil
import pytest

from conftest import wait_for
from hangkit import events, watcher_of
from strangerkit import ATTACKER, attacker, home, needs_root, place  # noqa: F401

pytestmark = [needs_root, pytest.mark.skipif(not shutil.which("gcc") or not shutil.which("objcopy"), reason="takes gcc and objcopy")]

# Two threads that each wait for a lock that the other one holds, in functions with source lines.
PROGRAM = """
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t both;
static int cross(int i)
{
	pthread_mutex_lock(&m[i]);
	pthread_barrier_wait(&both);
	if (i == 0)
		puts("ready");
	fflush(stdout);
	return pthread_mutex_lock(&m[!i]);
}
static void *other(void *p) { cross(1); return p; }
int main(void)
{
	pthread_t t;
	pthread_barrier_init(&both, 0, 2);
	pthread_create(&t, 0, other, 0);
	return cross(0);
}
"""
LINE = PROGRAM[:PROGRAM.index("return pthread")].count("\n") + 1


def tool(folder, *args):
    subprocess.run([str(a) for a in args], check=True, cwd=folder, capture_output=True)


@pytest.fixture
def compiled(home):
    """compiled() makes the program with debug information; compiled(section=bytes, ...) adds or replaces sections."""
    def make(link=None, **sections):
        (home / "cross.c").write_text(PROGRAM)
        tool(home, "gcc", "-g", "-gdwarf-4", "-O0", "-o", "cross", "cross.c", "-lpthread")
        if link:
            tool(home, "objcopy", "--dump-section", ".debug_abbrev=abbrev", "cross")
            rows = (home / "abbrev").read_bytes()
            assert rows.count(b"\x1b\x0e") == 1  # DW_AT_comp_dir, DW_FORM_strp
            sections["debug_abbrev"] = rows.replace(b"\x1b\x0e", b"\x1b\xa1\x3e")  # DW_FORM_GNU_strp_alt
            sections["gnu_debugaltlink"] = os.fsencode(link) + b"\0" + bytes(range(20))
        for name, content in sections.items():
            (home / name).write_bytes(content)
            manner = "--update-section" if name == "debug_abbrev" else "--add-section"
            tool(home, "objcopy", manner, f".{name}={name}", "cross")
        return home / "cross"
    return make


def stands(program):
    """The program, as the attacker runs it, once it stands."""
    process = subprocess.Popen([str(program)], user=ATTACKER, group=ATTACKER, extra_groups=[], cwd=program.parent,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    return process


@pytest.fixture
def run():
    started = []

    def start(program):
        started.append(stands(program))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def test_source_lines_of_another_users_program_are_shown(vigil, compiled, run):
    process = run(compiled())
    result = vigil("stack", "--native", process.pid)
    assert result.status == 0 and f"cross.c:{LINE}".encode() in result.out, result


def test_a_fifo_that_debug_information_names_is_not_waited_for(vigil, compiled, run, place):
    """Only root may open it, and somebody waits to be let go by a reader."""
    fifo = place / "fifo"
    os.mkfifo(fifo, 0o600)
    writer = subprocess.Popen(["/usr/bin/python3", "-c", "import os, sys; os.open(sys.argv[1], os.O_WRONLY)", fifo])
    try:
        process = run(compiled(link=fifo))
        begun = time.monotonic()
        result = vigil("stack", "--native", process.pid, timeout=40)
        assert result.status == 0 and b"cross" in result.out and time.monotonic() - begun < 30, result
        assert writer.poll() is None
    finally:
        writer.kill()
        writer.wait()


def test_a_users_own_fifo_in_debug_information_costs_seconds(vigil, compiled, run, home):
    fifo = home / "fifo"
    os.mkfifo(fifo, 0o666)
    os.chown(fifo, ATTACKER, ATTACKER)
    process = run(compiled(link=fifo))
    begun = time.monotonic()
    result = vigil("stack", "--native", process.pid, timeout=40)
    assert result.status == 0 and b"cross" in result.out and time.monotonic() - begun < 30, result


def reader_of_lines(vigil):
    """The process of a vigil that reads debug information, once it is the attacker."""
    for child in psutil.Process(vigil.pid).children(recursive=True):
        try:
            if child.name() == "vigil-helper" and child.uids().real == ATTACKER:
                return child.pid
        except psutil.NoSuchProcess:
            continue
    return None


def memory_has(pid, text):
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for row in maps:
            span, rights = row.split()[:2]
            start, end = (int(n, 16) for n in span.split("-"))
            if rights.startswith("r") and "[v" not in row:
                memory.seek(start)
                if text in memory.read(end - start):
                    return True
    return False


def test_who_reads_a_users_debug_information_has_nothing_of_roots_memory(vigil, compiled, run, home):
    """libdw reads behind the end of what it is given. It waits at the user's FIFO here."""
    os.mkfifo(home / "fifo", 0o666)
    os.chown(home / "fifo", ATTACKER, ATTACKER)
    process = run(compiled(link=home / "fifo"))
    looker = vigil.start("stack", "--native", process.pid, env={"A_SECRET_OF_ROOT": "TOKEN-4711"})
    reader = wait_for(lambda: reader_of_lines(looker), what="who reads lines")
    assert memory_has(looker.pid, b"TOKEN-4711")
    assert not memory_has(reader, b"TOKEN-4711")
    assert vigil.finish(looker, 40).status == 0


def test_names_of_a_closed_debug_file_are_not_shown_to_whom_links_to_it(vigil, home, place, run):
    """A program with a root of its own lies beside a link that leads, on the machine, to a debug file that only root can read."""
    closed, jail = place / "closed", home / "jail"
    closed.mkdir(0o700)
    jail.mkdir()
    (home / "cross.c").write_text(PROGRAM.replace("cross(", "secret_name("))
    tool(home, "gcc", "-static", "-g", "-O0", "-Wl,--build-id", "-o", "jail/cross", "cross.c", "-lpthread")
    tool(home, "objcopy", "--only-keep-debug", "jail/cross", closed / "cross.debug")
    tool(home, "strip", "jail/cross")
    tool(home, "objcopy", f"--add-gnu-debuglink={closed / 'cross.debug'}", "jail/cross")
    (jail / "cross.debug").symlink_to(closed / "cross.debug")
    start = home / "start"
    start.write_text(f"#!/bin/sh\nexec unshare -Ur --root={jail} /cross\n")
    start.chmod(0o755)
    result = vigil("stack", "--native", run(start).pid)
    assert result.status == 0 and b"cross" in result.out and b"secret_name" not in result.out, result


def compressed(size):
    """The content of a section with SHF_COMPRESSED: so many zeros."""
    z = zlib.compressobj(9, wbits=-15)
    part = z.compress(bytes(1 << 20)) + z.flush(zlib.Z_FULL_FLUSH)  # may stand there again and again
    adler = struct.pack(">I", size % 65521 << 16 | 1)
    return struct.pack("<IIQQ", 1, 0, size, 1) + b"\x78\xda" + part * (size >> 20) + z.flush() + adler


def mark_compressed(path, name):
    """Sets SHF_COMPRESSED, which objcopy does not take as a flag."""
    data = bytearray(path.read_bytes())
    at, = struct.unpack_from("<Q", data, 0x28)
    each, many, names = struct.unpack_from("<HHH", data, 0x3a)
    strings, = struct.unpack_from("<Q", data, at + names * each + 0x18)
    for i in range(many):
        text, = struct.unpack_from("<I", data, at + i * each)
        if data[strings + text:].startswith(name.encode() + b"\0"):
            struct.pack_into("<Q", data, at + i * each + 8, 0x800)
    path.write_bytes(data)


def test_debug_information_that_grows_when_it_is_read_takes_no_memory_of_vigil(vigil, compiled, run):
    """A section of 2 GiB in 2 MiB of file."""
    program = compiled(debug_macro=compressed(2 << 30))
    mark_compressed(program, ".debug_macro")
    process = run(program)
    looker = vigil.start("stack", "--native", process.pid, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(looker.pid, 0)  # of it and of what it started
    looker.returncode = os.waitstatus_to_exitcode(status)
    assert looker.returncode == 0 and used.ru_maxrss < 1200 << 10, used


def test_a_watch_tells_of_the_hang_all_the_same(vigil, compiled, run, home):
    """The stacks of threads that hold each other's locks are read with source lines."""
    os.mkfifo(home / "fifo", 0o600)
    process = run(compiled(link=home / "fifo"))
    watch = vigil.start("watch", "--pid", process.pid, "--hang-after", "4s")
    wait_for(lambda: events(vigil, "hang"), 90, "the report")
    process.kill()
    vigil.finish(watch, 30)
    assert not vigil.crashes()


def with_symbols(path, many):
    """Makes the symbol table so long: names of one function at 64 places, over and over."""
    data = bytearray(path.read_bytes())
    at, = struct.unpack_from("<Q", data, 0x28)
    each, sections = struct.unpack_from("<HH", data, 0x3a)
    header = next(at + i * each for i in range(sections) if struct.unpack_from("<I", data, at + i * each + 4)[0] == 2)
    offset, size = struct.unpack_from("<QQ", data, header + 0x18)
    old = bytes(data[offset:offset + size])
    name, _, _, section, value, _ = next(s for s in struct.iter_unpack("<IBBHQQ", old) if s[1] == 0x12 and s[3] and s[4])
    some = b"".join(struct.pack("<IBBHQQ", name, 0x12, 0, section, value + i % 64, 1) for i in range(1 << 16))
    table = old + some * (many >> 16)
    data += bytes(-len(data) % 8)
    struct.pack_into("<QQ", data, header + 0x18, len(data), len(table))
    path.write_bytes(data + table)


def test_symbols_without_number_take_no_memory_of_the_watcher(vigil, compiled, run):
    program = compiled()
    with_symbols(program, 6 << 20)
    process = run(program)
    watch = vigil.start("watch", "--pid", process.pid, "--hang-after", "4s")
    watcher = watcher_of(watch)
    wait_for(lambda: events(vigil, "hang"), 90, "the report")
    status = pathlib.Path(f"/proc/{watcher}/status").read_text()
    process.kill()
    vigil.finish(watch, 30)
    most_kib = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    assert most_kib < 120 << 10, status
