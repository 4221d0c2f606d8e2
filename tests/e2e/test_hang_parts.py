"""Circles of which somebody has to be named: by what a server has had of each rank, by the descriptors that forked ranks share,
by the children that a script waits for; and a helper that watches nothing any more."""
import sys
import time

import pytest

from hangkit import events, looks
from notifykit import free_port

# Ranks sum in a ring and meet at a store each fifth step; after the last meeting one of them is elsewhere.
RING = """
import selectors, socket, subprocess, sys, os, time
what, ports = sys.argv[1], [int(p) for p in sys.argv[2:6]]
def listen(port):
    door = socket.create_server(("127.0.0.1", port))
    return door
def dial(port):
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            time.sleep(0.05)
def serve():
    door, chosen, met = listen(ports[3]), selectors.DefaultSelector(), {}
    chosen.register(door, selectors.EVENT_READ)
    while True:
        for key, _ in chosen.select():
            if key.fileobj is door:
                chosen.register(door.accept()[0], selectors.EVENT_READ)
                continue
            name = key.fileobj.recv(16)
            if not name:
                return
            met.setdefault(name, []).append(key.fileobj)
            for end in met[name] if len(met[name]) == 3 else []:
                end.sendall(name)
def rank(r):
    door = listen(ports[r])
    to, left, store = dial(ports[(r + 1) % 3]), door.accept()[0], dial(ports[3])
    def total():
        for _ in range(2):
            to.sendall(b"x" * 16)
            left.recv(16)
    def meet(step):
        store.sendall(b"step%012d" % step)
        store.recv(16)
    for step in range(500):
        time.sleep(0.1)
        total()
        if step % 5 == 0:
            if step != 30 or (r == 2) == (what == "alone"):
                meet(step)
        if r == 0:
            print("step", step, flush=True)
if what == "serve":
    serve()
elif "RANK" in os.environ:
    rank(int(os.environ["RANK"]))
else:
    here = [sys.executable, __file__]
    store = subprocess.Popen(here + ["serve"] + sys.argv[2:])
    for p in [subprocess.Popen(here + sys.argv[1:], env=dict(os.environ, RANK=str(r), WORLD_SIZE="3")) for r in range(3)]:
        p.wait()
"""

BELLS = """
import os, struct, time
bells = [os.eventfd(0) for _ in range(3)]
def rank(r):
    for step in range(500):
        if r:
            time.sleep(0.05 * r)
            os.eventfd_write(bells[0], 1)
            os.eventfd_read(bells[r])
            continue
        time.sleep(1.5 if step == 20 else 0)
        for _ in range(2 if step >= 20 else 0):
            os.eventfd_read(bells[0])
        got = 0
        while step < 20 and got < 2:
            got += os.eventfd_read(bells[0])
        for bell in bells[1:]:
            os.eventfd_write(bell, 1)
        print("step", step, flush=True)
pids = []
for r in range(3):
    pids.append(os.fork())
    if pids[-1] == 0:
        os.environ["RANK"] = str(r)
        rank(r)
for pid in pids:
    os.waitpid(pid, 0)
"""

PIPELINE = """
cd "$1"
mkfifo later
lines() { for ((n = 0; n < 4000; n++)); do ((n > 40)) || { sleep 0.1; echo "step $n" >&2; }; printf '%04000d\\n' $n; done; }
lines | tee later | { exec 7< later; cat > first; cat <&7 > second; }
"""

WATCHES = """
import ctypes, os, shutil, subprocess, sys, time
if len(sys.argv) > 2:
    libc = ctypes.CDLL(None)
    fd = libc.inotify_init1(0)
    libc.inotify_add_watch(fd, sys.argv[1].encode(), 8)
    print("watches", flush=True)
    while True:
        got = os.read(fd, 4096)
        name = got[16:].split(b"\\0")[0].decode()
        if name.startswith("model"):
            open(sys.argv[1] + "/score" + name[5:], "w").close()
folder = sys.argv[1]
os.makedirs(folder)
helper = subprocess.Popen([sys.executable, __file__, folder, "watch"], stdout=subprocess.PIPE)
helper.stdout.readline()
for step in range(500):
    time.sleep(0.1)
    print("step", step, flush=True)
    if step == 35:
        shutil.rmtree(folder)
        os.makedirs(folder)
    if step % 10 == 0:
        open(folder + "/model%d" % step, "w").close()
        while not os.path.exists(folder + "/score%d" % step):
            time.sleep(0.2)
"""


def told(vigil, seconds, *command):
    p = vigil.start("run", "--", *command)
    end = time.monotonic() + seconds
    while time.monotonic() < end and not events(vigil, "hang"):
        time.sleep(1)
    p.terminate()
    result = vigil.finish(p)
    assert events(vigil, "hang"), result
    return vigil.why()


@pytest.mark.parametrize("what, says", [("alone", "the others have not made the call in which it waits"),
                                        ("out", "it has not made the call in which they wait")])
def test_the_rank_that_has_asked_a_store_for_more_or_less_is_named(vigil, tmp_path, what, says):
    job = tmp_path / "ring.py"
    job.write_text(RING)
    report = told(vigil, 90, sys.executable, job, what, *[free_port() for _ in range(4)])
    assert report["culprit_ranks"] == [2] and report["cause"]["confidence"] == "medium", report
    assert says in report["cause"]["text"], report


def test_ranks_that_share_their_bells_are_proved_to_wait_for_each_other(vigil, tmp_path):
    job = tmp_path / "bells.py"
    job.write_text(BELLS)
    report = told(vigil, 90, sys.executable, job)
    assert looks(report)[:2] == ("hang", "wait_circle") and "proved" in report["cause"]["text"], report


def test_a_script_whose_pipeline_waits_for_itself_is_told_with_its_tools(vigil, tmp_path):
    report = told(vigil, 90, "bash", "-c", PIPELINE, "bash", tmp_path)
    assert looks(report)[:2] == ("hang", "wait_circle") and report["cause"]["confidence"] == "low", report
    assert "(tee)" in report["cause"]["text"] and "(cat)" in report["cause"]["text"], report


def test_a_helper_that_watches_a_folder_that_was_removed_is_told(vigil, tmp_path):
    job = tmp_path / "watches.py"
    job.write_text(WATCHES)
    report = told(vigil, 160, sys.executable, job, tmp_path / "run")
    assert looks(report)[1] == "poll_loop" and report["cause"]["confidence"] == "low", report
    assert "no file is watched" in report["cause"]["text"], report
