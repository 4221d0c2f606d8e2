"""The door of vigil-rights: who may ask, who can hold it up, and that vigil does not wait for one that does not answer."""
import array
import contextlib
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

import pytest

from conftest import wait_for

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="takes root, whom the door serves")

MALLORY = 60723
KMSG = struct.pack("<Iiii", 1, 0, 0, 0)
NETLINK = struct.pack("<Iiii", 2, socket.AF_NETLINK, socket.SOCK_DGRAM, 4)
# As systemd starts it: the listening socket is descriptor 3, and the variables name this process.
START = """
import os, sys
os.dup2(int(sys.argv[2]), 3)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.argv[1], [sys.argv[1]])
"""
# Connects as often as it may, asks with each, and says what it was given.
ATTACK = """
import socket, struct, sys, time
held, got = [], 0
for i in range(300):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(5)
    try:
        s.connect(sys.argv[1])
        s.send(struct.pack("<Iiii", 1 + i % 2, 16, 2, 4))
    except OSError:
        pass
    held.append(s)
for s in held:
    try:
        data, fds, flags, peer = socket.recv_fds(s, 64, 4)
        got += len(data) + len(fds)
    except OSError:
        pass
print(got, flush=True)
time.sleep(60)
"""
# door SOCKET KMSG ANSWER: a door that never answers, or when this file is there, with a descriptor of the kernel's log.
DOOR = """
import ctypes, os, socket, struct, sys, time
ctypes.CDLL(None).prctl(1, 9) # ends with vigil, which its parent becomes
log = os.open(sys.argv[2], os.O_RDONLY | os.O_NONBLOCK)
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(sys.argv[1])
s.listen(8)
held = []
while True:
    one, _ = s.accept()
    held.append(one)
    while not os.path.exists(sys.argv[3]):
        time.sleep(0.01)
    if len(one.recv(64)) == 16:
        socket.send_fds(one, [struct.pack("<i", 0)], [log])
"""
# In a mount namespace where /dev/kmsg is hidden as systemd hides it, and the door is the one above.
HIDDEN = """
set -e
mount -t tmpfs none /run
"$0" -c "$1" /run/vigil-rights.socket /dev/kmsg "$2" > /dev/null 2>&1 &
while [ ! -S /run/vigil-rights.socket ]; do sleep 0.01; done
mknod /run/none c 0 0
mount --bind /run/none /dev/kmsg
shift 2
exec "$@"
"""


class Door:
    def __init__(self, program, folder):
        self.path = str(folder / "door")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(self.path)
        self.listener.listen(64)
        os.chmod(self.path, 0o666) # the unit has 0600: here only what the door itself checks stands in the way
        fd = self.listener.fileno()
        self.process = subprocess.Popen([sys.executable, "-c", START, program, str(fd)], pass_fds=[fd], stderr=subprocess.PIPE)

    def connect(self):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.settimeout(10)
        s.connect(self.path)
        return s

    def ask(self, request, *fds):
        """The answer's bytes and descriptors."""
        with contextlib.closing(self.connect()) as s:
            control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
            s.sendmsg([request], control)
            data, given, _, _ = socket.recv_fds(s, 64, 8)
            return data, given


@pytest.fixture
def folder():
    path = pathlib.Path(tempfile.mkdtemp(prefix="vigil-rights-", dir="/var/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def door(binary, folder):
    d = Door(binary.parent / "vigil-rights", folder)
    yield d
    d.process.kill()
    d.process.communicate()
    d.listener.close()


def numbers(given):
    """What these descriptors are; they are closed."""
    names = [os.readlink(f"/proc/self/fd/{fd}") for fd in given]
    for fd in given:
        os.close(fd)
    return names


def descriptors(process):
    return len(os.listdir(f"/proc/{process.pid}/fd"))


def attacker(path):
    process = subprocess.Popen([sys.executable, "-c", ATTACK, path], stdout=subprocess.PIPE, user=MALLORY, group=MALLORY,
                               extra_groups=[], cwd="/")
    return process


def test_an_ordinary_user_gets_nothing_and_holds_nobody_up(door):
    before = None
    process = attacker(door.path)
    try:
        assert process.stdout.readline().strip() == b"0"
        began = time.monotonic()
        data, given = door.ask(KMSG)
        assert time.monotonic() - began < 5
        assert data == struct.pack("<i", 0) and numbers(given) == ["/dev/kmsg"]
        before = descriptors(door.process)
    finally:
        process.kill()
        process.communicate()
    assert door.process.poll() is None
    assert before <= 3 + 2 + 16 # its own, and those whom it still listens to


def test_who_connects_and_keeps_silent_holds_nobody_up(door):
    """Not even root: a service that was stopped between connecting and asking."""
    silent = [door.connect() for _ in range(40)]
    began = time.monotonic()
    with open("/proc/self/ns/net", "rb") as net:
        for _ in range(5):
            data, given = door.ask(NETLINK, net.fileno())
            assert data == struct.pack("<i", 0) and numbers(given)[0].startswith("socket:")
    assert time.monotonic() - began < 8, "each in its turn would take 10 s"
    for s in silent:
        s.close()
    wait_for(lambda: descriptors(door.process) <= 6, 10, "the door to close what has gone")


def test_what_is_no_request_gets_no_descriptor(door):
    with open("/proc/self/ns/uts", "rb") as other, open("/dev/null", "rb") as file:
        for request, fds in ((b"x" * 16, []), (NETLINK, []), (NETLINK, [other.fileno()]), (NETLINK, [file.fileno()] * 3),
                             (KMSG + b"x", []), (KMSG[:8], []), (b"x" * 40000, [file.fileno()])):
            data, given = door.ask(request, *fds)
            assert not given, request[:16]
            assert data in (b"", struct.pack("<i", -22)), request[:16]
    data, given = door.ask(KMSG)
    assert data == struct.pack("<i", 0) and numbers(given) == ["/dev/kmsg"]
    wait_for(lambda: descriptors(door.process) <= 6, 10, "the door to close what was asked")


@pytest.fixture
def hidden(vigil, tmp_path):
    """vigil(...) where it may not open the kernel's log and the door answers once answer.touch() was called."""
    def run(*words, answer):
        return vigil(*words, prefix=["unshare", "-m", "sh", "-c", HIDDEN, sys.executable, DOOR, answer])
    if subprocess.run(["unshare", "-m", "true"], check=False).returncode != 0:
        pytest.skip("no mount namespaces here")
    return run


def kmsg_notes(vigil):
    report = vigil("why", "--json").json()
    return [e for e in report.get("evidence", []) if "kmsg" in str(e)]


def test_a_door_that_does_not_answer_is_not_waited_for(vigil, hidden, tmp_path):
    began = time.monotonic()
    result = hidden("run", "--retries", "0", "--", "sh", "-c", "exit 3", answer=tmp_path / "never")
    assert result.status == 3, result
    assert time.monotonic() - began < 8, "it waited 10 s for the door"
    assert any("not permitted" in str(e) for e in kmsg_notes(vigil)), vigil("why", "--json").out


def test_an_answer_that_comes_late_is_taken(vigil, hidden, tmp_path):
    answer = tmp_path / "now"
    job = f"touch {answer}; sleep 1; exit 3"
    result = hidden("run", "--retries", "0", "--", "sh", "-c", job, answer=answer)
    assert result.status == 3, result
    assert not any("not permitted" in str(e) for e in kmsg_notes(vigil)), vigil("why", "--json").out
