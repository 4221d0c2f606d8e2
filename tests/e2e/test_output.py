"""A job's output on its way: every byte arrives in order wherever it goes, and the kept copy never holds it up."""
import os
import pty
import re
import select
import signal
import socket
import subprocess
import threading
import time

import psutil
import pytest

from conftest import end_tree, wait_for

MIB = 1 << 20
MUCH = 192  # MiB; 40 are held back for a slow disk
# Blocks of lines that differ from each other: blocks(n) gives them, and the job writes the same.
MAKE = """
import os, random, sys
BASE = random.Random(35).randbytes(1 << 19).hex().encode()
BASE = b"\\n".join(BASE[i:i + 63] for i in range(0, len(BASE), 63))[:(1 << 20) - 17]
def blocks(n, salt):
    for i in range(n):
        yield b"%08x%08x" % (i, salt) + BASE[i % 977:] + BASE[:i % 977] + b"\\n"
"""
JOB = MAKE + """
fds = [int(fd) for fd in sys.argv[2].split(",")]
for out, err in zip(blocks(int(sys.argv[1]), 1), blocks(int(sys.argv[1]), 2)):
    for fd, block in ((1, out), (2, err)):
        block = memoryview(block)
        while fd in fds and block:
            block = block[os.write(fd, block):]
"""
exec(MAKE)  # the same blocks here


class Expect(threading.Thread):
    """Reads a descriptor to its end and compares."""

    def __init__(self, fd, n, salt):
        super().__init__(daemon=True)
        self.fd, self.expected, self.bytes, self.wrong = fd, blocks(n, salt), 0, None
        self.start()

    def run(self):
        rest = b""
        while True:
            try:
                got = os.read(self.fd, MIB)
            except OSError:  # a terminal whose last writer is gone
                got = b""
            if not got:
                break
            at = 0
            while at < len(got) and self.wrong is None:
                rest = rest or next(self.expected, b"")
                n = min(len(rest), len(got) - at)
                if n == 0 or got[at:at + n] != rest[:n]:
                    self.wrong = self.bytes + at
                rest, at = rest[n:], at + n
            self.bytes += len(got)

    def check(self, n):
        self.join(60)
        assert not self.is_alive() and self.wrong is None and self.bytes == n * MIB, (self.bytes, self.wrong)


def kept(path):
    """The bytes that a kept copy has, and those that it says are missing."""
    gaps = [int(g) for g in re.findall(rb"^\[vigil: (\d+) bytes of output are not kept here", path.read_bytes(), re.M)]
    text = re.sub(rb"^\[vigil: \d+ bytes of output are not kept here[^\n]*\n", b"", path.read_bytes(), flags=re.M)
    return text, sum(gaps)


def run(vigil, n, fds, stdout, stderr, *options):
    return vigil.start("run", "--quiet", "--keep-output", "0", *options, "--", "/usr/bin/python3", "-c", JOB, n, fds, stdout=stdout, stderr=stderr)


@pytest.mark.slow
def test_much_on_each_stream_arrives_whole_through_pipes(vigil):
    process = run(vigil, MUCH, "1,2", subprocess.PIPE, subprocess.PIPE)
    both = [Expect(process.stdout.fileno(), MUCH, 1), Expect(process.stderr.fileno(), MUCH, 2)]
    for each in both:
        each.check(MUCH)
    assert process.wait(20) == 0
    for stream, salt in (("out", 1), ("err", 2)):
        text, gap = kept(vigil.log(stream=stream))
        assert len(text) + gap == MUCH * MIB
        last = list(blocks(MUCH, salt))[-1]
        assert text.endswith(last[-60000:])  # the end is always kept


@pytest.mark.parametrize("mode", ["wb", "ab"])
def test_files_get_every_byte_too(vigil, tmp_path, mode):
    with open(tmp_path / "out", mode) as out, open(tmp_path / "err", mode) as err:
        process = run(vigil, 96, "1,2", out, err)
        assert process.wait(60) == 0
    for name, salt in (("out", 1), ("err", 2)):
        with open(tmp_path / name, "rb") as f:
            Expect(f.fileno(), 96, salt).check(96)


def test_sockets_get_every_byte_too(vigil):
    ours, theirs = socket.socketpair()
    process = run(vigil, 96, "1", theirs, subprocess.DEVNULL)
    theirs.close()
    Expect(ours.fileno(), 96, 1).check(96)
    assert process.wait(20) == 0


def test_terminals_get_every_byte_too(vigil):
    ours, theirs = pty.openpty()
    subprocess.run(["stty", "raw", "-echo"], stdin=theirs, check=True)
    process = run(vigil, 16, "1", theirs, subprocess.DEVNULL)
    os.close(theirs)
    Expect(ours, 16, 1).check(16)
    assert process.wait(20) == 0
    text, gap = kept(vigil.log())
    assert gap == 0 and text == b"".join(blocks(16, 1))


def test_a_burst_and_a_slow_stream_are_kept_as_a_whole(vigil):
    process = run(vigil, 48, "1", subprocess.PIPE, subprocess.DEVNULL)
    Expect(process.stdout.fileno(), 48, 1).check(48)
    assert process.wait(20) == 0
    text, gap = kept(vigil.log())
    assert gap + len(text) == 48 * MIB and text.endswith(b"\n")
    if gap == 0:  # a disk that is busy with something else may have left one, which is said
        assert text == b"".join(blocks(48, 1))


ALWAYS = """
import os, time
line = b"x" * 999 + b"\\n"
while True:
    os.write(1, line * 20)
    time.sleep(0.002)
"""
TICKS = """
import os, time
while True:
    os.write(1, b"%d\\n" % time.monotonic_ns())
    time.sleep(0.005)
"""


@pytest.fixture
def frozen_disk(tmp_path):
    """A folder on a file system of its own that can be made to take no write: freeze(), thaw()."""
    image, folder = tmp_path / "image", tmp_path / "disk"
    folder.mkdir()
    with open(image, "wb") as f:
        f.truncate(256 * MIB)
    if os.geteuid() != 0 or subprocess.run(["mkfs.ext4", "-q", image]).returncode or subprocess.run(
            ["mount", "-o", "loop", image, folder], capture_output=True).returncode:
        pytest.skip("no file system of its own here: needs root and a loop device")

    class Disk:
        path = folder

        def freeze(self):
            subprocess.run(["fsfreeze", "-f", folder], check=True)

        def thaw(self):
            subprocess.run(["fsfreeze", "-u", folder], check=False, capture_output=True)
    disk = Disk()
    yield disk
    disk.thaw()
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_disk_that_takes_nothing_does_not_hold_the_output_up(vigil, frozen_disk):
    vigil.state = frozen_disk.path
    process = vigil.start("run", "--quiet", "--", "/usr/bin/python3", "-c", TICKS, stderr=subprocess.DEVNULL)
    try:
        got, n = b"", 0
        while got.count(b"\n") < 20:
            got += os.read(process.stdout.fileno(), MIB)
        log = vigil.log()
        wait_for(lambda: log.stat().st_size > 100, what="the kept copy to begin")
        frozen_disk.freeze()
        end = time.monotonic() + 4
        while time.monotonic() < end:  # the store and the timeline wait for the disk meanwhile
            ready, _, _ = select.select([process.stdout], [], [], 2)
            assert ready, "output stands still because the disk does"
            got += os.read(process.stdout.fileno(), MIB)
            n += 1
        assert n > 100
        frozen_disk.thaw()
        process.send_signal(signal.SIGTERM)
        got += process.stdout.read()
        assert process.wait(20) == 128 + signal.SIGTERM
        assert log.read_bytes() == got  # what waited for the disk is kept, too
    finally:
        frozen_disk.thaw()
        end_tree(process)
        process.wait(10)


def test_what_a_dead_disk_does_not_take_is_counted_where_it_goes_on(vigil, frozen_disk):
    vigil.state = frozen_disk.path
    process = vigil.start("run", "--quiet", "--", "/usr/bin/python3", "-c", ALWAYS, stderr=subprocess.DEVNULL)
    total = [0]

    def read():
        while got := os.read(process.stdout.fileno(), MIB):
            total[0] += len(got)
    try:
        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        wait_for(lambda: total[0] > MIB, what="output")
        log = vigil.log()
        frozen_disk.freeze()
        before = total[0]
        wait_for(lambda: total[0] > before + 40 * MIB, 60, what="output to go on beyond what waits in memory")
        frozen_disk.thaw()
        wait_for(lambda: b"[vigil: " in log.read_bytes(), 30, what="the gap to be said")
        process.send_signal(signal.SIGTERM)
        reader.join(20)
        assert process.wait(20) == 128 + signal.SIGTERM
        text, gap = kept(log)
        assert gap > 10 * MIB and len(text) + gap == total[0], (len(text), gap, total)
        assert "output_gap" in vigil("events", "last", "--json").out.decode()
    finally:
        frozen_disk.thaw()
        end_tree(process)
        process.wait(10)


def test_a_full_disk_costs_the_copy_and_nothing_else(vigil, tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", folder]).returncode:
        pytest.skip("no file system of its own here")
    vigil.state = folder
    try:
        process = vigil.start("run", "--keep-output", "0", "--", "/usr/bin/python3", "-c", JOB, 64, "1")
        Expect(process.stdout.fileno(), 64, 1).check(64)
        said = process.stderr.read().decode()
        assert process.wait(20) == 0 and "cannot keep the output of rank 0 (No space left on device)" in said, said
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def test_what_a_job_wrote_before_it_was_killed_arrives_and_is_kept(vigil):
    script = JOB + "\nos.kill(os.getpid(), 9)\n"
    process = vigil.start("run", "--quiet", "--keep-output", "0", "--", "/usr/bin/python3", "-c", script, 80, "1", stderr=subprocess.DEVNULL)
    Expect(process.stdout.fileno(), 80, 1).check(80)
    assert process.wait(20) == 137
    text, gap = kept(vigil.log())
    assert len(text) + gap == 80 * MIB and text.endswith(list(blocks(80, 1))[-1][-60000:])


def test_steps_are_found_between_the_gaps(vigil):
    """A reader of the kept copy sees whole lines only, and the last one."""
    count = 6_000_000
    script = f"import sys\nfor i in range(0, {count}, 1000): sys.stdout.write(''.join('step %d loss 0.5\\n' % j for j in range(i, i + 1000)))"
    process = vigil.start("run", "--quiet", "--", "/usr/bin/python3", "-c", script, stdout=subprocess.DEVNULL)
    assert process.wait(60) == 0
    lines = [line for line in vigil.log().read_text().splitlines() if not line.startswith("[vigil: ")]
    assert lines[-1] == f"step {count - 1} loss 0.5"
    assert all(re.fullmatch(r"step \d+ loss 0\.5", line) for line in lines)


def test_a_quiet_job_costs_nothing_more(vigil):
    """10 bytes now and then: no thread of vigil's wakes up between them for the output's sake."""
    process = vigil.start("run", "--quiet", "--", "/usr/bin/python3", "-u", "-c", "import time\nprint('begun')\ntime.sleep(60)")
    assert process.stdout.readline() == b"begun\n"
    wait_for(lambda: psutil.Process(process.pid).num_threads() >= 2, what="the threads")

    def switches():
        found = {}
        for tid in os.listdir(f"/proc/{process.pid}/task"):
            if int(tid) != process.pid:
                with open(f"/proc/{process.pid}/task/{tid}/status") as f:
                    found[tid] = int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", f.read(), re.M)[1])
        return found
    before, end = switches(), time.monotonic() + 2
    wait_for(lambda: time.monotonic() > end)
    after = switches()
    assert sum(after[tid] - before[tid] for tid in before if tid in after) <= 2, (before, after)
