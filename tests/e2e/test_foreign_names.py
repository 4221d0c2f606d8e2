"""A user without rights names files, and vigil of root is asked to act: it does for that user what the user could do alone."""
import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

from conftest import ROOT, end_tree, wait_for
from deadkit import dead_files  # noqa: F401
from hangkit import events
from ranksim import RasServer, ras_report, world as ranks
from strangerkit import ATTACKER, attacker, home, needs_root, place  # noqa: F401

pytestmark = [
    needs_root,
    pytest.mark.skipif(not shutil.which("unshare") or not shutil.which("mount"), reason="takes unshare and mount"),
]
BINARY = pathlib.Path(os.environ.get("VIGIL", ROOT / "build/src/cli/vigil")).resolve()
LIBRARY = BINARY.parents[2] / "preload/libvigil_heap.so"
attaches = pytest.mark.skipif(not LIBRARY.exists() or os.uname().machine != "x86_64",
                              reason="nothing can be loaded into a program by this build")


def untouched(path):
    """What must not change of a folder or a file of root's."""
    st = path.stat()
    inside = sorted(p.name for p in path.iterdir()) if path.is_dir() else path.read_bytes()
    return st.st_uid, st.st_gid, st.st_mode, inside


PLANTS = """
import os, sys, time
victim = sys.argv[1]
start = open("/proc/self/stat").read().rsplit(")", 1)[1].split()[19]
for name in {names}:
    os.symlink(victim, name)
print("ready", flush=True)
kept = []
while True:
    kept = (kept + [bytearray(4000)])[-50:]
    time.sleep(0.01)
"""


REPLACES = PLANTS.format(names="[]").replace("import os,", "import glob, os, signal,").replace("start =", """
def replace(*_):
    profile, = glob.glob("/tmp/vigil-heap-*/*.heap")
    os.unlink(profile)
    os.symlink(victim, profile)
    print("replaced", flush=True)
signal.signal(signal.SIGUSR1, replace)
start =""")

# ---- heap --attach ----

@attaches
@pytest.mark.parametrize("form", ["absolute", "upwards"])
def test_a_link_in_the_users_own_tmp_leads_to_no_folder_of_root(vigil, attacker, place, form):
    victim = place / "victim"
    victim.mkdir()
    before = untouched(victim)
    names = '[f"/tmp/vigil-heap-{n}-{start}" for n in [os.getpid()]]'
    target = str(victim) if form == "absolute" else "../" * 8 + str(victim).lstrip("/")
    process = attacker(PLANTS.format(names=names), target, namespaces=True)
    result = vigil("heap", process.pid, "--attach")
    assert untouched(victim) == before, result
    assert process.poll() is None


@attaches
def test_a_process_that_does_not_see_our_folders_gets_a_profile_all_the_same(vigil, attacker, place):
    process = attacker(PLANTS.format(names="[]"), "-", namespaces=True)
    result = vigil("heap", process.pid, "--attach")
    assert result.status == 0 and "/tmp/vigil-heap-" in result.text, result
    seen = pathlib.Path(f"/proc/{process.pid}/root/tmp")
    made = [p for p in seen.iterdir() if p.name.startswith("vigil-heap-")]
    assert [p.lstat().st_uid for p in made] == [ATTACKER], made
    wait_for(lambda: vigil("heap", process.pid).status == 0, what="its profile")
    saved = place / "saved.heap"
    result = vigil("heap", process.pid, "-o", saved)
    assert result.status == 0 and saved.stat().st_uid == 0, result
    assert vigil("heap", saved).status == 0


@attaches
def test_a_saved_profile_is_not_a_file_of_root_that_a_link_names(vigil, attacker, place):
    """The profile is replaced by a link once it has been read."""
    secret = place / "secret"
    secret.write_bytes(b"x" * 4096)
    secret.chmod(0o600)
    process = attacker(REPLACES, secret, namespaces=True)
    assert vigil("heap", process.pid, "--attach").status == 0
    wait_for(lambda: vigil("heap", process.pid).status == 0, what="its profile")
    process.send_signal(signal.SIGUSR1)
    assert process.stdout.readline() == b"replaced\n"
    saved = place / "saved.heap"
    result = vigil("heap", process.pid, "-o", saved)
    assert result.status != 0 and not saved.exists(), result


@attaches
def test_a_folder_that_the_environment_names_is_not_made_by_root(vigil, attacker, place):
    wanted = place / "made" / "deep"
    process = attacker(PLANTS.format(names="[]"), "-", env={"VIGIL_HEAP_DIR": str(wanted)})
    result = vigil("heap", process.pid, "--attach")
    assert not wanted.parent.exists(), result


@attaches
def test_nothing_of_root_is_made_behind_a_link_that_the_environment_names(vigil, attacker, place, home):
    victim = place / "victim"
    victim.mkdir()
    before = untouched(victim)
    (home / "link").symlink_to(victim)
    process = attacker(PLANTS.format(names="[]"), "-", env={"VIGIL_HEAP_DIR": str(home / "link")})
    result = vigil("heap", process.pid, "--attach")
    assert untouched(victim) == before, result


LIES = """
import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def patch(name, code):
    at = ctypes.cast(getattr(libc, name), ctypes.c_void_p).value
    page = at & ~4095
    if libc.mprotect(ctypes.c_void_p(page), 8192, 7) != 0:
        sys.exit("mprotect: " + os.strerror(ctypes.get_errno()))
    ctypes.memmove(at, code, len(code))
fd = os.open(sys.argv[1], os.O_PATH if sys.argv[2] == "path" else os.O_RDONLY)
patch("memfd_create", b"\\xb8" + fd.to_bytes(4, "little") + b"\\xc3")
patch("dlopen", b"\\x31\\xc0\\xc3")
print("ready", flush=True)
while True:
    time.sleep(0.05)
"""


@attaches
@pytest.mark.parametrize("seen", ["path", "read"])
def test_a_descriptor_that_the_program_calls_its_memory_is_not_believed(vigil, attacker, place, seen):
    """Its memfd_create answers with a file of root's."""
    secret = place / "secret"
    secret.write_text("root's own\n" * 1000)
    secret.chmod(0o600 if seen == "path" else 0o644)
    before = untouched(secret)
    process = attacker(LIES, secret, seen)
    result = vigil("heap", process.pid, "--attach")
    assert untouched(secret) == before, result
    assert result.status != 0 and process.poll() is None, result


# ---- reports of hangs ----

STANDS = """
import os, sys, threading, time
manner, path = sys.argv[1:]
print("ready", flush=True)
how = {"path": os.O_PATH, "read": os.O_RDONLY, "write": os.O_WRONLY | os.O_CREAT}
if manner in how:
    fd = os.open(path, how[manner], 0o600)
    os.dup2(fd, 1)
    if manner == "write":
        os.dup2(fd, 2)
        for i in range(30):
            print(f"step {i}/1000 loss 0.5", flush=True)
            time.sleep(0.05)
    threading.Thread(target=time.sleep, args=(600,)).start()
    raise RuntimeError("TOKEN-4711" if manner == "write" else "nothing to see")
lock = threading.Lock()
lock.acquire()
exec(compile("\\n" * 40 + "lock.acquire()", path, "exec"))
"""
LOG = """step 1/1000 loss 0.5
Traceback (most recent call last):
  File "train.py", line 9, in <module>
    raise RuntimeError("TOKEN-4711")
RuntimeError: TOKEN-4711
"""


def reported(vigil, process):
    """The report on a process of the attacker's that hangs, and everything that vigil keeps."""
    watch = vigil.start("watch", "--pid", process.pid, "--hang-after", "4s")
    wait_for(lambda: events(vigil, "hang"), 90, "the report")
    report = vigil.why(events(vigil, "hang")[0]["incident"])
    process.kill()
    vigil.finish(watch, 30)
    kept = b"".join(p.read_bytes() for p in vigil.state.rglob("*") if p.is_file())
    return report, kept


@pytest.mark.parametrize("manner", ["path", "read"])
def test_a_file_that_a_job_holds_without_writing_is_no_log_of_it(vigil, attacker, place, manner):
    secret = place / "secret"
    secret.write_text(LOG)
    secret.chmod(0o600 if manner == "path" else 0o644)
    report, kept = reported(vigil, attacker(STANDS, manner, secret))
    assert b"TOKEN-4711" not in kept and "TOKEN-4711" not in str(report)


def test_the_users_own_log_is_quoted(vigil, attacker, home):
    report, _ = reported(vigil, attacker(STANDS, "write", home / "log"))
    assert "TOKEN-4711" in str(report), report


def test_the_users_own_source_is_quoted(vigil, attacker, home):
    (home / "own.py").write_text("lock.acquire() # TOKEN-4711\n" * 60)
    (home / "own.py").chmod(0o600)
    os.chown(home / "own.py", ATTACKER, ATTACKER)
    home.chmod(0o700)
    report, kept = reported(vigil, attacker(STANDS, "source", home / "own.py"))
    assert b"TOKEN-4711" in kept, report


@pytest.mark.parametrize("mode", [0o700, 0o755], ids=["closed", "open"])
def test_a_line_is_quoted_from_an_open_folder_only(vigil, attacker, place, mode):
    folder = place / "folder"
    folder.mkdir()
    (folder / "settings.py").write_text("number = 'TOKEN-4711'\n" * 60)
    folder.chmod(mode)
    report, kept = reported(vigil, attacker(STANDS, "source", folder / "settings.py"))
    assert (b"TOKEN-4711" in kept) == ("TOKEN-4711" in str(report)) == (mode == 0o755), report


def test_a_fifo_that_is_named_as_source_is_not_opened(vigil, attacker, place):
    """Its writer waits for a reader, and must go on waiting."""
    fifo = place / "fifo"
    os.mkfifo(fifo, 0o644)
    writer = subprocess.Popen([sys.executable, "-c", "import os, sys; os.open(sys.argv[1], os.O_WRONLY)", fifo])
    try:
        reported(vigil, attacker(STANDS, "source", fifo))
        assert writer.poll() is None
    finally:
        writer.kill()
        writer.wait()


# ---- heap folders ----

PLUGS = """
import os, sys, time
for name in ("1.1.heap", "control", "2.2.heap"):
    try:
        os.mkfifo(os.path.join(os.environ["VIGIL_HEAP_DIR"], name))
    except FileExistsError:
        pass
for i in range(40):
    print("line", i, flush=True)
    time.sleep(0.1)
"""


@attaches
def test_a_fifo_among_the_profiles_stops_nothing(vigil):
    result = vigil("run", "--heap", "--", "/usr/bin/python3", "-c", PLUGS, timeout=30)
    assert result.status == 0 and result.out.count(b"line") == 40, result


# ---- collectives ----

RANK = """
import time
print("ready", flush=True)
time.sleep(600)
"""
RANK_ENV = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "2"}


def test_a_file_system_that_does_not_answer_costs_seconds(vigil, attacker, place, dead_files):
    """A rank says that its calls stand in a file there; reading it would never end."""
    dead = dead_files("hard", at=place)
    process = attacker(RANK, env={**RANK_ENV, "VIGIL_NCCL_RING": str(dead / "data")})
    begun = time.monotonic()
    result = vigil("collectives", process.pid, "--no-ras", timeout=60)
    dead_files.end()
    assert b"does not answer" in result.out and time.monotonic() - begun < 40, result


def test_the_server_of_another_user_is_not_asked_because_a_job_names_it(vigil, attacker):
    server = RasServer([ras_report([1, 2], [41, 40])])
    process = attacker(RANK, env={**RANK_ENV, "NCCL_RAS_ADDR": server.address})
    result = vigil("collectives", process.pid, "--force", "--wait", "3s")
    assert b"another user listens" in result.out and server.commands == [], result


def test_no_other_host_is_asked_because_a_job_names_it(vigil, attacker):
    process = attacker(RANK, env={**RANK_ENV, "NCCL_RAS_ADDR": "192.0.2.1:80"})
    result = vigil("collectives", process.pid, "--force", "--wait", "3s")
    assert b"no address of this host" in result.out, result


@pytest.mark.parametrize("owner", ["stranger", "user"])
def test_a_dump_is_believed_if_it_is_of_the_jobs_user(vigil, attacker, place, owner):
    """Where anybody may make files, as in /tmp, which is where PyTorch writes by itself, another user was first."""
    shared = place / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    for rank in ranks(2):
        path = rank.call().call(done=False).write(shared)
        os.chown(path, ATTACKER if owner == "user" else ATTACKER + 1, 0)
        path.chmod(0o644)
    process = attacker(RANK, env={**RANK_ENV, "TORCH_FR_DUMP_TEMP_FILE": str(shared / "nccl_trace_rank_")})
    result = vigil("collectives", process.pid, "--no-ras")
    assert (b"another user's" in result.out) == (owner == "stranger"), result
    assert (b"all_reduce" in result.out) == (owner == "user"), result


TWO_HANG = """
import os, subprocess, sys
rank = "import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()"
ranks = [subprocess.Popen([sys.executable, "-c", rank], env={**os.environ, "RANK": str(i), "LOCAL_RANK": str(i)}) for i in (0, 1)]
print("ready", flush=True)
ranks[0].wait()
"""


def test_a_dump_that_is_large_takes_no_memory_of_the_watcher(vigil, attacker, home):
    """The service has 256 MiB for all its jobs, and a hole in a file costs a user nothing."""
    for rank in (0, 1):
        path = home / f"dump.{rank}"
        path.write_bytes(b"\x80\x02")
        os.truncate(path, 400 << 20)
        os.chown(path, ATTACKER, ATTACKER)
        os.utime(path, (time.time() + 30,) * 2)
    process = attacker(TWO_HANG, env={"WORLD_SIZE": "2", "TORCH_FR_DUMP_TEMP_FILE": str(home / "dump.")})
    watch = vigil.start("watch", "--pid", process.pid, "--hang-after", "4s")
    ended, largest = threading.Event(), [0]

    def look():
        while not ended.wait(0.005):
            for child in psutil.Process(watch.pid).children(recursive=True):
                try:
                    largest[0] = max(largest[0], child.memory_info().rss)
                except psutil.Error:
                    pass
    looker = threading.Thread(target=look)
    looker.start()
    try:
        wait_for(lambda: events(vigil, "hang"), 90, "the report")
    finally:
        ended.set()
        looker.join()
    end_tree(process)
    vigil.finish(watch, 30)
    assert largest[0] < 150 << 20, largest[0] >> 20


# ---- races ----

SWAPS = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
one, other = (os.fsencode(name) for name in sys.argv[1:])
exchange = lambda: libc.renameat2(-100, one, -100, other, 2)
if exchange() != 0:
    sys.exit("renameat2: " + os.strerror(ctypes.get_errno()))
print("ready", flush=True)
while exchange() == 0:
    pass
"""
RACES = 40


def test_a_fifo_that_is_swapped_in_for_a_dump_is_not_waited_for(vigil, attacker, home):
    dumps = home / "dumps"
    dumps.mkdir()
    os.chown(dumps, ATTACKER, ATTACKER)
    rank, = ranks(1)
    os.chown(rank.write(dumps), ATTACKER, ATTACKER)
    os.mkfifo(home / "fifo")
    os.chown(home / "fifo", ATTACKER, ATTACKER)
    swaps = attacker(SWAPS, dumps / "nccl_trace_rank_0", home / "fifo")
    for _ in range(RACES):
        vigil("collectives", dumps, timeout=30)
    assert swaps.poll() is None


def test_a_project_file_is_judged_and_read_as_one_file(vigil, attacker, home):
    """It belongs to root at one moment and to the user at the next."""
    trusted, hostile = home / "vigil.yaml", home / "hostile"
    trusted.write_text("run:\n  retries: 2\n")
    hostile.write_text("run:\n  retries: 99\n")
    os.chown(hostile, ATTACKER, ATTACKER)
    swaps = attacker(SWAPS, trusted, hostile)
    for _ in range(RACES):
        result = vigil("config", "show", cwd=home)
        assert b"99" not in result.out, result
    assert swaps.poll() is None
