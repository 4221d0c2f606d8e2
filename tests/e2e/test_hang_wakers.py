"""Waits that end by what no list of holders shows: an alarm, a signal, a process with the same memory. Nothing is proved then."""
import os
import signal
import subprocess
import sys

import psutil
import pytest

from conftest import wait_for
from hangkit import events, need_bpf

SECONDS = 16
OUTSIDE = """
import asyncio, os, signal, sys, threading, time
for i in range(20):
    print("step", i, flush=True)
    time.sleep(0.1)
async def loop():
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(int(sys.argv[2]), told.set)
    open("stands", "w").close()
    await told.wait()
if sys.argv[1] == "loop":
    asyncio.run(loop())
else:
    told = threading.Event()
    signal.signal(int(sys.argv[2]), lambda *_: told.set())
    open("stands", "w").close()
    told.wait()
print("step 21", flush=True)
"""
JOB = '''
import asyncio, os, queue, signal, subprocess, sys, threading, time
class Woken(Exception):
    pass
def wake(*_):
    raise Woken
def steps(first, n):
    for i in range(first, first + n):
        print("step", i, flush=True)
        time.sleep(0.1)
async def loop(seconds):
    told = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().add_signal_handler(signal.SIGALRM, told.set_result, None)
    signal.alarm(seconds)
    await told
def stands(alarm=0, **streams):
    """A program that reads a pipe that it has itself, with an alarm that was set before it was executed."""
    reads, writes = os.pipe()
    return subprocess.Popen(["cat"], stdin=reads, pass_fds=[writes], preexec_fn=lambda: signal.alarm(alarm), **streams)
def ended_by_another(seconds, child):
    subprocess.Popen(["sh", "-c", f"sleep {seconds}; kill {child.pid}"])
    return child
what, seconds = sys.argv[1], int(sys.argv[2])
steps(0, 20)
if what == "alarm":
    signal.signal(signal.SIGALRM, wake)
    signal.setitimer(signal.ITIMER_REAL, seconds)
if what == "child":
    signal.signal(signal.SIGUSR1, wake)
    subprocess.Popen(["sh", "-c", f"sleep {seconds}; kill -USR1 {os.getpid()}"])
if what == "loop":
    asyncio.run(loop(seconds))
elif what == "alarm-end":
    stands(seconds).wait()
elif what == "alarm-output":
    stands(seconds, stdout=subprocess.PIPE).stdout.read()
elif what == "killed-end":
    ended_by_another(seconds, stands()).wait()
elif what == "killed-output":
    ended_by_another(seconds, stands(stdout=subprocess.PIPE)).stdout.read()
elif what == "asked":
    told = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: told.set())
    subprocess.Popen(["sh", "-c", f"sleep {seconds}; kill {os.getpid()}"])
    told.wait()
else:
    try:
        queue.Queue().get()
    except Woken:
        pass
steps(20, 10)
'''


@pytest.fixture
def wakes(binary):
    path = binary.parents[2] / "tests/tool/wakes"
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return path


def lives(vigil, *command, env=None):
    """The job is not ended by --on-hang kill, and is told at most with low confidence."""
    is_not_ended(vigil, *command, env=env)
    told_low(vigil)
    return events(vigil)


def is_not_ended(vigil, *command, env=None, prefix=()):
    words = ["--hang-after", "4s", "--on-hang", "kill", "--on-hang-needs", "proof"]
    result = vigil("run", *words, "--", *command, timeout=90, env=env, prefix=prefix)
    assert result.status == 0, result


def told_low(vigil):
    for e in events(vigil, "hang"):
        report = vigil("why", e["incident"], "--json").json()
        assert report["cause"]["confidence"] == "low", report["cause"]


@pytest.mark.parametrize("what", ["alarm", "child", "loop"])
def test_a_handler_of_a_signal_may_end_any_wait(vigil, what):
    looked_at = lives(vigil, sys.executable, "-c", JOB, what, SECONDS)
    assert [e for e in looked_at if e["kind"] in ("suspected", "hang")], "nobody looked at it while it stood"


@pytest.mark.parametrize("what", ["alarm-end", "alarm-output"])
def test_an_alarm_without_a_handler_ends_its_process(vigil, what):
    need_bpf(vigil)
    looked_at = lives(vigil, sys.executable, "-c", JOB, what, SECONDS)
    assert [e for e in looked_at if e["kind"] in ("suspected", "hang")], "nobody looked at it while it stood"


def test_without_bpf_an_alarm_may_be_set(vigil, as_nobody):
    os.chmod(vigil.state, 0o777)
    if subprocess.run([*as_nobody, vigil.binary, "version"], capture_output=True).returncode:
        pytest.skip("another user cannot start this vigil")
    is_not_ended(vigil, "/usr/bin/python3", "-c", JOB, "alarm-end", SECONDS, prefix=as_nobody)


# a network of its own for the words after it: down while there is a file "down", and no "up"
NETWORK = """
import fcntl, os, socket, struct, subprocess, sys, time
def link(up):
    fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", up)) # SIOCSIFFLAGS
link(1)
p = subprocess.Popen(sys.argv[1:])
for name, up in (("down", 0), ("up", 1)):
    while not os.path.exists(name) and p.poll() is None:
        time.sleep(0.05)
    link(up)
    os.close(os.open("is-" + name, os.O_CREAT | os.O_WRONLY))
sys.exit(p.wait())
"""
ASKS = """
import os, socket, time
door = socket.create_server(("127.0.0.1", 0))
if os.fork() == 0:
    c = socket.create_connection(door.getsockname())
    while b := c.recv(1):
        c.sendall(b)
    os._exit(0)
c, _ = door.accept()
for i in range(25):
    if i == 20:
        os.close(os.open("down", os.O_CREAT | os.O_WRONLY))
        while not os.path.exists("is-down"):
            time.sleep(0.05)
    c.sendall(b"x")
    c.recv(1)
    print("step", i, flush=True)
    time.sleep(0.1)
c.shutdown(socket.SHUT_WR)
os.wait()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="a network of its own takes root")
def test_what_the_network_has_lost_is_sent_again(vigil, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prefix = ["unshare", "-n", sys.executable, "-c", NETWORK]
    if subprocess.run([*prefix[:2], "true"], capture_output=True).returncode:
        pytest.skip("no network can be made here")
    words = ["--hang-after", "4s", "--on-hang", "kill", "--on-hang-needs", "proof"]
    p = vigil.start("run", *words, "--", sys.executable, "-c", ASKS, prefix=prefix)
    wait_for(lambda: (tmp_path / "is-down").exists() and events(vigil, "suspected"), 60, "a look")
    with pytest.raises(subprocess.TimeoutExpired):
        p.wait(SECONDS)
    (tmp_path / "up").touch()
    assert vigil.finish(p, timeout=90).status == 0


@pytest.mark.parametrize("what", ["killed-end", "killed-output", "asked"])
def test_a_helper_that_sleeps_may_end_another_one(vigil, what):
    looked_at = lives(vigil, sys.executable, "-c", JOB, what, SECONDS)
    assert [e for e in looked_at if e["kind"] in ("suspected", "hang")], "nobody looked at it while it stood"


@pytest.mark.parametrize("what", ["loop", "event"])
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGUSR1, signal.SIGRTMIN + 2])
def test_somebody_outside_of_the_job_may_send_a_signal(vigil, tmp_path, monkeypatch, what, number):
    monkeypatch.chdir(tmp_path)
    comes_from_outside(vigil, tmp_path, number, sys.executable, "-c", OUTSIDE, what, int(number))


def comes_from_outside(vigil, folder, number, *command):
    """The job stands until this process sends it a signal, and is looked at meanwhile; then it ends by itself."""
    p = vigil.start("run", "--hang-after", "4s", "--on-hang", "kill", "--", *command)
    wait_for(lambda: (folder / "stands").exists() and events(vigil, "suspected"), 60, "a look")
    job = next(c.pid for c in psutil.Process(p.pid).children() if c.name().startswith("python"))
    with pytest.raises(subprocess.TimeoutExpired): # a proof comes within some seconds of the suspicion
        p.wait(SECONDS)
    os.kill(job, number)
    assert vigil.finish(p, timeout=30).status == 0
    told_low(vigil)


@pytest.mark.parametrize("what", ["receive", "send", "untaken", "watchdog", "limit", "sibling"])
def test_a_limit_that_the_program_has_made_ends_a_wait(vigil, wakes, what):
    looked_at = lives(vigil, wakes, what, SECONDS)
    assert [e for e in looked_at if e["kind"] in ("suspected", "hang")], "nobody looked at it while it stood"


def test_the_kernel_tells_of_a_file_by_a_signal(vigil, wakes, tmp_path):
    folder = tmp_path / "watched"
    folder.mkdir()
    p = vigil.start("run", "--hang-after", "4s", "--on-hang", "kill", "--", wakes, "folder", 0, env={"WAKES_FILE": str(folder)})
    wait_for(lambda: events(vigil, "suspected"), 60, "a look")
    with pytest.raises(subprocess.TimeoutExpired):
        p.wait(SECONDS)
    (folder / "new").touch()
    assert vigil.finish(p, timeout=30).status == 0
    told_low(vigil)


@pytest.mark.skipif(os.geteuid() != 0, reason="a userfaultfd for the kernel's reads takes root")
def test_a_read_may_wait_for_the_page_of_its_memory(vigil, wakes, tmp_path):
    env = {"WAKES_FILE": str(tmp_path / "socket")}
    with subprocess.Popen([wakes, "brings", str(SECONDS)], env={**os.environ, **env}, stdout=subprocess.PIPE, text=True) as brings:
        assert brings.stdout.readline() == "kept\n"
        lives(vigil, wakes, "page", 0, env=env)


@pytest.mark.skipif(os.geteuid() != 0, reason="a mount takes root")
def test_a_fifo_may_have_been_opened_through_another_mount(vigil, wakes, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "mount").mkdir()
    env = {"WAKES_FILE": str(tmp_path / "folder/fifo"), "WAKES_OPENED": str(tmp_path / "opened"), "WAKES_MOUNT": str(tmp_path / "mount")}
    with subprocess.Popen([wakes, "writes", str(SECONDS)], env={**os.environ, **env}, stdout=subprocess.PIPE, text=True) as writes:
        if writes.stdout.readline() != "kept\n":
            pytest.skip("no mount can be made here")
        lives(vigil, wakes, "fifo", 0, env=env)


@pytest.mark.parametrize("what", ["memory", "files"])
def test_who_has_a_threads_memory_or_descriptors_may_end_its_wait(vigil, wakes, what):
    looked_at = lives(vigil, wakes, what, SECONDS)
    assert [e for e in looked_at if e["kind"] in ("suspected", "hang")], "nobody looked at it while it stood"


def test_a_lock_that_a_program_outside_of_the_job_has_is_no_orphan(vigil, wakes, tmp_path):
    env = {"WAKES_FILE": str(tmp_path / "shared")}
    with subprocess.Popen([wakes, "keep", str(SECONDS)], env={**os.environ, **env}, stdout=subprocess.PIPE, text=True) as keeper:
        assert keeper.stdout.readline() == "kept\n"
        p = vigil.start("run", "--hang-after", "4s", "--on-hang", "kill", "--on-hang-needs", "proof", "--", wakes, "lock", 0, env=env)
        wait_for(lambda: events(vigil, "hang"), 60, "the verdict")
        cause = vigil.why()["cause"]
        assert cause["id"] != "orphaned_wait" and f"process {keeper.pid} (wakes)" in cause["text"], cause
        assert vigil.finish(p, timeout=60).status == 0
