"""A user without rights starts set-user-ID programs, which become root as sudo(8) does; root's rights serve the user in nothing."""
import os
import pathlib
import shutil
import signal
import subprocess

import pytest

from conftest import end_tree, wait_for
from hangkit import events
from strangerkit import ATTACKER, attacker, home, needs_root, place  # noqa: F401
from test_foreign_names import attaches

pytestmark = [needs_root, pytest.mark.skipif(not shutil.which("cc"), reason="takes a compiler")]
# Any user may start it, and by then nothing in its ids tells who did.
BECOMES_ROOT = """
#define _GNU_SOURCE
#include <unistd.h>
int main(void)
{
	if (setresuid(0, 0, 0) || write(1, "root\\n", 5) != 5)
		return 1;
	for (;;)
		pause();
}
"""


@pytest.fixture
def becomes_root(place):
    path = place / "becomes-root"
    subprocess.run(["cc", "-x", "c", "-o", path, "-"], input=BECOMES_ROOT.encode(), check=True)
    path.chmod(0o4755)
    return path


@pytest.fixture
def closed(place):
    path = place / "closed"
    path.mkdir(mode=0o700)
    return path


def all_ids(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(line.split()[1:] for line in status if line.startswith("Uid:"))


BECOMES = """
import os, sys
print("ready", flush=True)
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.parametrize("switch", ["--stop", "--start"])
def test_root_writes_nothing_where_the_starter_of_a_set_user_id_program_says(vigil, attacker, becomes_root, closed, home, switch):
    for folder in (closed, home):
        process = attacker(BECOMES, becomes_root, env={"VIGIL_HEAP_DIR": str(folder)})
        if process.stdout.readline() != b"root\n":
            pytest.skip("set-user-ID bits do nothing here")
        assert all_ids(process.pid) == ["0"] * 4
        before = sorted(folder.iterdir())
        result = vigil("heap", process.pid, switch)
        assert sorted(folder.iterdir()) == before, result
        assert result.status != 0 and "set-user-ID" in result.text, result
        os.kill(process.pid, signal.SIGKILL)


# Stands in a line of a file that its user may not read. Its child has many threads, so that a dump of both takes a while
# after the parent's stack was read.
STANDS = """
import os, shutil, signal, subprocess, sys, threading
program, secret, python = sys.argv[1:]
signal.signal(signal.SIGUSR1, lambda *_: os.execv(program, ["python3"]))
child = subprocess.Popen([python, "-c", '''
import threading
lock = threading.Lock()
lock.acquire()
threading.stack_size(65536)
for i in range(400):
    threading.Thread(target=lock.acquire).start()
print("stands", flush=True)
lock.acquire()
'''], stdout=subprocess.PIPE)
child.stdout.readline()
lock = threading.Lock()
lock.acquire()
names = {"lock": lock}
exec(compile("def stand(): lock.acquire()\\n", secret, "exec"), names)
print("ready", flush=True)
names["stand"]()
"""
# The child's program is opened for each of three dumps, which are 2 s apart; at the third the parent becomes another one.
TRIGGERS = """
import ctypes, os, signal, sys, time
libc = ctypes.CDLL(None)
notes = libc.inotify_init()
IN_OPEN = 0x20
if libc.inotify_add_watch(notes, os.fsencode(sys.argv[2]), IN_OPEN) < 0:
    sys.exit("inotify")
print("ready", flush=True)
os.read(notes, 4096)
first = time.monotonic()
while time.monotonic() - first < 3.5:
    os.read(notes, 4096)
os.kill(int(sys.argv[1]), signal.SIGUSR1)
print("sent", flush=True)
time.sleep(600)
"""


def test_no_line_is_quoted_that_only_the_root_may_read_whom_a_process_became(vigil, attacker, becomes_root, closed, home):
    secret, python = closed / "secret", home / "python"
    secret.write_text("ROOTS_LINE = 'TOKEN-4711'\n")
    secret.chmod(0o600)
    shutil.copy("/usr/bin/python3", python)
    process = attacker(STANDS, becomes_root, secret, python)
    trigger = attacker(TRIGGERS, process.pid, python, name="trigger.py")
    watch = vigil.start("watch", "--pid", process.pid, "--hang-after", "4s")
    wait_for(lambda: events(vigil, "hang"), 90, "the report")
    report = vigil.why(events(vigil, "hang")[0]["incident"])
    ids = all_ids(process.pid)
    for p in (process, trigger):
        end_tree(p)
    vigil.finish(watch, 30)
    kept = b"".join(p.read_bytes() for p in vigil.state.rglob("*") if p.is_file())
    assert b"TOKEN-4711" not in kept and "TOKEN-4711" not in str(report), report
    assert f"users/{ATTACKER}/" in "".join(map(str, vigil.state.rglob("*"))), "it is the user's job"
    if ids != ["0"] * 4 or "in stand" not in str(report):
        pytest.skip("it became root too late or too early on this machine")
    assert "another user's" in str(report), report


# Becomes the program as soon as its user has the folder into which the profile is to go.
FOLLOWS = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
notes = libc.inotify_init()
IN_CREATE = 0x100
if libc.inotify_add_watch(notes, b"/tmp", IN_CREATE) < 0:
    sys.exit("inotify")
mine = b"vigil-heap-%d-" % os.getpid()
print("ready", flush=True)
while mine not in os.read(notes, 65536):
    pass
os.execv(sys.argv[1], sys.argv[1:])
"""


@attaches
@pytest.mark.parametrize("script", [BECOMES, FOLLOWS], ids=["it-is", "it-becomes"])
def test_no_library_of_roots_writes_for_who_started_a_set_user_id_program(vigil, attacker, becomes_root, script):
    """With the program's rights, in a folder that is its starter's, who has put links there."""
    process = attacker(script, becomes_root)
    if script is BECOMES and process.stdout.readline() != b"root\n":
        pytest.skip("set-user-ID bits do nothing here")
    result = vigil("heap", process.pid, "--attach")
    ids, maps = all_ids(process.pid), pathlib.Path(f"/proc/{process.pid}/maps").read_text()
    left = [p for folder in pathlib.Path("/tmp").glob(f"vigil-heap-{process.pid}-*") for p in (folder, *folder.iterdir())]
    os.kill(process.pid, signal.SIGKILL)
    for path in reversed(left):
        path.rmdir() if path.is_dir() else path.unlink()
    assert ids == ["0"] * 4, ("it came to that", result)
    assert "libvigil_heap" not in maps and not left, result
    assert result.status != 0 and ("set-user-ID" in result.text or "became another program" in result.text), result
