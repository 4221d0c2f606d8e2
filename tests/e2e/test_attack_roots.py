"""A user's process whose root is an overlay over a file system in user space that never answers again."""
import os
import signal
import stat
import subprocess

import pytest

from conftest import end_tree, wait_for
from strangerkit import ATTACKER, attacker, home, needs_root, place  # noqa: F401

pytestmark = needs_root

# The overlay asks with the rights of who mounted it, so that FUSE's own ban on other users, root too, does not hold.
SILENT = r"""
import ctypes, os, struct, sys, threading
base, node, mark, maps = sys.argv[1:5]
libc = ctypes.CDLL(None, use_errno=True)
def mount(source, at, kind, data):
    if libc.mount(source.encode(), at.encode(), kind.encode(), 0, data.encode()) != 0:
        sys.exit("mount: " + os.strerror(ctypes.get_errno()))
for name in ("under", "lower", "root"):
    os.makedirs(f"{base}/{name}")
fd = os.open(node, os.O_RDWR)
mount("silent", f"{base}/under", "fuse", f"fd={fd},rootmode=40000,user_id=0,group_id=0")
if os.fork() == 0:
    attr = struct.pack("<6Q10I", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0o40755, 2, 0, 0, 0, 4096, 0)
    answers = {3: struct.pack("<Q2I", 0, 0, 0) + attr, 27: struct.pack("<Q2I", 1, 0, 0), 29: b"", 25: b"",
               17: struct.pack("<5Q4I24x", 0, 0, 0, 0, 0, 4096, 255, 4096, 0)}
    CODE = open(maps, "rb").read() if maps else b""
    of_file = struct.pack("<6Q10I", 2, len(CODE), 8, 0, 0, 0, 0, 0, 0, 0o100755, 1, 0, 0, 0, 4096, 0)
    while True:
        request = os.read(fd, 1 << 17)
        _, what, unique, node_of = struct.unpack_from("<IIQQ", request)
        if os.path.exists(f"{base}/silent"):
            continue
        answers[14] = struct.pack("<Q2I", 1, 0, 0)
        answers[18] = b""
        if what == 1 and CODE:
            answers[1] = struct.pack("<4Q2I", 2, 0, 0, 0, 0, 0) + of_file if request[40:].startswith(b"code") else None
        if what == 3:
            answers[3] = struct.pack("<Q2I", 0, 0, 0) + (of_file if node_of == 2 else attr)
        if what == 15:
            offset, size = struct.unpack_from("<8xQI", request, 40)
            answers[15] = CODE[offset:offset + size]
            if os.path.exists(f"{base}/last"):
                open(f"{base}/silent", "w").close()  # the first byte comes, and nothing after it
        if what == 26:
            answers[26] = struct.pack("<4I2H2I2H7I", 7, 31, 0, 0, 12, 9, 1 << 16, 1, 0, 0, *[0] * 7)
        if what in (2, 36, 42):
            continue
        out = answers.get(what)
        os.write(fd, struct.pack("<IiQ", 16 + len(out or b""), 0 if out is not None else -2 if what == 1 else -38, unique) + (out or b""))
mount("over", f"{base}/root", "overlay", f"lowerdir={base}/under:{base}/lower")
os.chroot(f"{base}/root")
os.chdir("/")
if maps:
    code = ctypes.CDLL("/code.so")
    threading.Thread(target=code.wait_here, args=(libc.pause,), daemon=True).start()
print("ready", flush=True)
lock = threading.Lock()
lock.acquire()
lock.acquire()
"""
HANGS = "import threading\nprint('ready', flush=True)\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()\n"


@pytest.fixture
def silent(attacker, home, place):  # noqa: F811
    """Starts it; the file system is silent from then on."""
    node = place / "fuse"
    os.mknod(node, stat.S_IFCHR | 0o666, os.makedev(10, 229))
    node.chmod(0o666)
    base = home / "files"
    base.mkdir()
    os.chown(base, ATTACKER, ATTACKER)

    def start(mark="none", maps="", from_then="silent"):
        process = attacker(SILENT, base, node, mark, maps, namespaces=True)
        (base / from_then).touch()
        (base / from_then).chmod(0o666)
        return process
    return start


def test_nobody_who_looks_into_it_waits(vigil, silent):
    stuck = silent()
    try:
        for words in (["stack", "--native"], ["waits"]):
            looking = vigil.start(words[0], stuck.pid, *words[1:])
            try:
                out, err = looking.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                end_tree(stuck)  # before that it could not even be killed
                pytest.fail(f"{words} did not end")
            assert looking.returncode in (0, 3, 5), (out, err)
    finally:
        end_tree(stuck)


@pytest.fixture
def library(place):
    (place / "code.c").write_text("int wait_here(int (*f)(void)) { return f() + 1; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", place / "code.so", place / "code.c"], check=True)
    return place / "code.so"


def test_a_file_from_there_names_functions_while_it_answers(vigil, silent, library):
    said = vigil("stack", silent(maps=library, from_then="nothing").pid, "--native")
    assert said.status == 0 and b"wait_here" in said.out, said


def test_a_file_of_which_no_more_than_the_first_byte_comes_holds_nobody(vigil, silent, library):
    """A thread of its stands in a library from there."""
    stuck = silent(maps=library, from_then="last")
    try:
        looking = vigil.start("stack", stuck.pid, "--native")
        try:
            out, err = looking.communicate(timeout=40)
        except subprocess.TimeoutExpired:
            end_tree(stuck)
            pytest.fail("it did not end")
        assert looking.returncode in (0, 3, 5), (out, err)
    finally:
        end_tree(stuck)


@pytest.fixture
def served(place):
    """A user's process in a root of a server that root has mounted for all, and that falls silent."""
    base, script = place / "served", place / "served.py"
    base.mkdir()
    os.mknod(place / "node", stat.S_IFCHR | 0o666, os.makedev(10, 229))
    at = SILENT.index('mount("over"')
    script.write_text(SILENT[:at].replace('group_id=0"', 'group_id=0,allow_other"') +
                      f'os.chroot(f"{{base}}/under")\nos.setuid({ATTACKER})\n' + SILENT[SILENT.index('os.chdir("/")'):])
    process = subprocess.Popen(["unshare", "-m", "/usr/bin/python3", "-u", script, base, place / "node", "none", ""], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    (base / "silent").touch()
    yield process
    end_tree(process)
    process.wait(10)
    process.stdout.close()


def test_few_helpers_stand_for_one_user(vigil, served):
    """Nothing ends them before the server does, and the service may have 128 processes."""
    looking = vigil.start("stack", served.pid, "--native")
    try:
        looking.communicate(timeout=60)
        assert looking.returncode == 0
        wait_for(lambda: all(p.status() == "disk-sleep" for p in vigil.strays()), 5, "what can be ended to end")
        assert 1 <= len(vigil.strays()) <= 3, vigil.strays()
    finally:
        end_tree(served)


def test_hangs_of_others_are_told_all_the_same(vigil, silent, attacker, home):  # noqa: F811
    mark = f"mark-{os.getpid()}"
    stuck = silent(mark)
    try:
        agent = vigil.start("agent", "--command", mark, "--hang-after", "6s")
        wait_for(lambda: told_of(vigil, stuck.pid), 40, "its own hang to be told")
        other = attacker(HANGS, mark, name="other.py")
        wait_for(lambda: told_of(vigil, other.pid), 60, "the other's hang to be told")
        agent.send_signal(signal.SIGTERM)
        agent.wait(20)
        wait_for(lambda: not vigil.strays(), 20, "all of vigil's processes to end")
    finally:
        end_tree(stuck)


def told_of(vigil, pid):
    said = vigil("why", pid, "--json")
    return said.status == 0 and said.json()["kind"] == "hang"
