"""vigil waits: real programs that wait for each other, and one that works; what it prints for people, programs and graphviz."""
import fcntl
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

from conftest import ROOT, WORKLOADS, end_tree, wait_for, workload
from guardkit import nobodys_vigil  # noqa: F401

sys.path.insert(0, str(ROOT / "tests"))
import pythons

FOUND = pythons.find()

KINDS = {"unknown", "clock", "tcp", "connect", "listen", "datagram", "unix", "pipe", "fifo", "eventfd", "child", "thread", "lock", "futex",
         "shared futex", "file lock", "semaphore", "message", "signal", "stopped", "traced", "frozen", "storage", "fuse", "terminal", "device", "object"}
ENDS = {"runs", "sleeps", "nobody", "gone", "circle", "stopped", "traced", "frozen", "outside", "visitor", "storage", "device", "person",
        "own_thread", "unknown"}
QUALITIES = {"proof", "likely", "possible"}


def check_thread(thread):
    assert isinstance(thread["tid"], int) and isinstance(thread["main"], bool)
    assert thread["does"] in {"runs", "sleeps", "waits", "ended"}
    assert all(isinstance(thread[key], bool) for key in ("readable", "timed", "dead"))
    assert not (thread["dead"] and (thread["timed"] or thread["does"] in {"runs", "sleeps"})), thread
    assert thread.get("end", "runs") in ENDS
    assert ("end" in thread) != bool(thread["arrows"]), thread
    for wait in thread["waits"]:
        assert wait["kind"] in KINDS and isinstance(wait["complete"], bool)
        assert all(isinstance(h["pid"], int) for h in wait["holders"])
    for arrow in thread["arrows"]:
        assert arrow["kind"] in KINDS | {"collective", "call"} and arrow["quality"] in QUALITIES
        assert arrow["source"] in {"kernel", "hint", "history"}
        assert ("complete" in arrow) == (arrow["source"] != "hint")
        to = arrow["to"]
        assert "pid" in to or "text" in to, to
        assert not ("tid" in to and "any_of" in to), to


def check(answer):
    """What docs/formats/waits.md promises of every answer."""
    assert answer["schema"] == "vigil.waits/1"
    assert answer["looks"] in (1, 2) and ("apart_ms" in answer) == (answer["looks"] == 2)
    assert isinstance(answer["complete"], bool) and answer["took_us"] > 0
    threads = [t for p in answer["processes"] for t in p["threads"]]
    assert answer["dead_threads"] == sum(t["dead"] for t in threads)
    for process in answer["processes"]:
        assert process["threads"], process
        assert isinstance(process["pid"], int) and isinstance(process["ppid"], int)
        assert all(isinstance(process[key], bool) for key in ("main", "launcher", "readable"))
        for thread in process["threads"]:
            check_thread(thread)
    assert answer["mains"] == sum(p["main"] for p in answer["processes"])
    for end in answer["ends"]:
        assert end["kind"] in ENDS and end["quality"] in QUALITIES and end["text"] and end["who"] and end["way"]
        assert end["followers"] >= 0 and end["ranks"] == sorted(end["ranks"])
    counts = [e["followers"] for e in answer["ends"]]
    assert counts == sorted(counts, reverse=True)
    return answer


def waits(vigil, what, *options, **how):
    result = vigil("waits", what, "--json", *options, **how)
    assert result.status == 0, result
    return check(result.json())


def main_of(answer, pid):
    return next(t for p in answer["processes"] if p["pid"] == pid for t in p["threads"] if t["main"])


def in_call(pid, *calls):
    """True once its main thread stands in one of these system calls."""
    try:
        with open(f"/proc/{pid}/syscall") as f:
            number = f.read().split()[0]
    except OSError:
        return False
    return number in {str(c) for c in calls}


FUTEX, RECVFROM, WAIT4, READ, WRITE = {
    "x86_64": (202, 45, 61, 0, 1), "aarch64": (98, 207, 260, 63, 64)}.get(os.uname().machine, (202, 45, 61, 0, 1))


def free_ports(n):
    """The first of n numbers in a row that nobody listens at; tests beside this one look elsewhere."""
    for first in range(21000 + os.getpid() % 500 * 20, 32000, n):
        taken = []
        try:
            for i in range(n):
                s = socket.socket()
                taken.append(s)
                s.bind(("127.0.0.1", first + i))
            return first
        except OSError:
            pass
        finally:
            for s in taken:
                s.close()
    pytest.fail("no free ports")


DOT_TOKEN = re.compile(r'\s*(?:("(?:[^"\\\x00-\x1f\x7f]|\\.)*")|([A-Za-z_][A-Za-z0-9_]*)|(->|[{}\[\]=;,]))')


def dot_check(text):
    """By graphviz where it is there; by hand everywhere: every byte is part of a token, and brackets match."""
    at, depth, tokens = 0, [], []
    text = text.rstrip()
    while at < len(text):
        m = DOT_TOKEN.match(text, at)
        assert m, f"not DOT: {text[at:at + 80]!r}"
        at = m.end()
        token = m.group(1) or m.group(2) or m.group(3)
        tokens.append(token)
        if token in "{[":
            depth.append(token)
        elif token in "}]":
            assert depth and depth.pop() == {"}": "{", "]": "["}[token], tokens[-5:]
    assert not depth and tokens[:3] == ["digraph", "waits", "{"]
    ends = {tokens[i + d] for i, t in enumerate(tokens) if t == "->" for d in (-1, 1)}
    made = {tokens[i - 1] for i, t in enumerate(tokens) if t == "[" and tokens[i - 2] != "->"}
    assert ends <= made, ends - made
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg", "-o", "/dev/null"], input=text.encode(), check=True, timeout=60)
    return tokens


@pytest.fixture
def ring(vigil):
    process = vigil.start("run", "--nproc", 4, "--name", "ring", "--", *workload("waiting", "ring", free_ports(4)))

    def stands():
        found = vigil("ps", "ring", "--json").out.decode().splitlines()
        pids = [int(re.search(r'"pid": ?(\d+)', line).group(1)) for line in found]
        return sum(in_call(pid, RECVFROM) for pid in pids) >= 4
    wait_for(stands, 30, "four ranks in recv")
    return process


def test_a_ring_of_receivers_is_a_circle_by_proof(vigil, ring):
    answer = waits(vigil, "ring")
    end = answer["ends"][0]
    assert end["kind"] == "circle" and end["dead"] and end["closed"] and end["ranks"] == [0, 1, 2, 3] and end["threads"] == 4
    by_pid = {p["pid"]: p for p in answer["processes"]}
    for process in (p for p in answer["processes"] if p["main"]):
        thread = process["threads"][0]
        assert thread["dead"] and thread["does"] == "waits"
        arrow, = thread["arrows"]
        assert arrow["kind"] == "tcp" and arrow["quality"] == "proof" and arrow["complete"]
        assert by_pid[arrow["to"]["pid"]]["rank"] == (process["rank"] - 1) % 4
    text = vigil("waits", "ring").out.decode()
    assert "4 threads wait for each other in a circle" in text and "proved" in text
    dot = dot_check(vigil("waits", "ring", "--dot").out.decode())
    assert dot.count("->") == 4 and dot.count("subgraph") == 4


def test_one_look_proves_nothing(vigil, ring):
    began = time.monotonic()
    answer = waits(vigil, "ring", "--seconds", 0)
    assert answer["looks"] == 1 and answer["dead_threads"] == 0 and not answer["ends"][0]["dead"]
    assert time.monotonic() - began < 2
    assert "nothing is proved" in " ".join(vigil("waits", "ring", "--seconds", 0).out.decode().split())


def test_ctrl_c_shows_what_is_there(vigil, ring):
    process = vigil.start("waits", "ring", "--seconds", 600, "--json")

    def in_the_pause():
        return in_call(process.pid, 230, 115)  # clock_nanosleep
    wait_for(in_the_pause, 20, "the pause between the looks")
    process.send_signal(signal.SIGINT)
    result = vigil.finish(process, 20)
    assert result.status == 0, result
    assert check(result.json())["looks"] == 1


def test_the_holder_of_a_lock_is_named(vigil, begin):
    process = begin(workload("waiting", "lock"))
    wait_for(lambda: in_call(process.pid, FUTEX))
    answer = waits(vigil, process.pid)
    thread = main_of(answer, process.pid)
    arrow, = thread["arrows"]
    other = next(t["tid"] for t in answer["processes"][0]["threads"] if not t["main"])
    assert arrow["to"] == {"pid": process.pid, "tid": other} and arrow["source"] == "hint" and arrow["quality"] == "proof", arrow
    assert "Lock" in thread["hint"]["text"] and "hold" in thread["hint"]["owner_text"]
    text = vigil("waits", process.pid).out.decode()
    assert f"thread {other}: waits: read, empty pipe" in text


def test_a_full_pipe_and_a_parent_that_waits_for_the_end(vigil, begin):
    process = begin(workload("waiting", "pipe"))
    child = wait_for(lambda: next(iter(open(f"/proc/{process.pid}/task/{process.pid}/children").read().split()), None))
    wait_for(lambda: in_call(process.pid, WAIT4) and in_call(child, WRITE))
    answer = waits(vigil, process.pid)
    thread, below = main_of(answer, process.pid), main_of(answer, int(child))
    assert [a["to"]["pid"] for a in thread["arrows"]] == [int(child)] and thread["arrows"][0]["kind"] == "child"
    assert [a["to"]["pid"] for a in below["arrows"]] == [process.pid] and below["waits"][0]["to_write"]
    assert thread["dead"] and below["dead"]
    assert answer["ends"][0]["kind"] == "circle"
    assert "full pipe" in vigil("waits", process.pid).out.decode()


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(p) for p in f.read().split()]


def seen(vigil, pid, as_wanted):
    """An answer that is as wanted: a loop may be met awake at one of the looks."""
    def look():
        answer = waits(vigil, pid)
        return answer if as_wanted(answer) else None
    return wait_for(look, 60, "a look at which the loop sleeps")


def test_an_idle_worker_is_told_by_its_own_frames(vigil, begin, tmp_path):
    """Below those of a forked process are its parent's, which say where the pool was made."""
    script = tmp_path / "pools.py"
    script.write_text("""import multiprocessing, time
pool = multiprocessing.get_context("fork").Pool(2)
print("begun", flush=True)
time.sleep(100000)
""")
    process = begin(sys.executable, script)
    wait_for(lambda: sorted(in_call(p, FUTEX) + 2 * in_call(p, READ) for p in children(process.pid)) == [1, 2])
    answer = waits(vigil, process.pid)
    texts = [main_of(answer, p).get("waiting_on", "") for p in children(process.pid)]
    assert any(t.startswith("SimpleQueue.get") for t in texts) and "pools.py" not in "".join(texts), texts


def test_who_looks_at_memory_of_a_stopped_process_waits_for_it(vigil, begin):
    process = begin(workload("waiting", "look", "stopped"))
    child, = children(process.pid)
    answer = seen(vigil, process.pid, lambda a: main_of(a, process.pid)["arrows"])
    arrow, = main_of(answer, process.pid)["arrows"]
    assert arrow["to"]["pid"] == child and arrow["kind"] == "shared futex" and arrow["quality"] == "likely", arrow
    assert arrow["source"] == "kernel" and not arrow["complete"]
    assert answer["ends"][0]["kind"] == "stopped" and answer["dead_threads"] == 0
    assert "looks again and again at shared memory" in answer["ends"][0]["way"]
    os.kill(child, signal.SIGKILL)


def test_who_looks_at_memory_of_a_process_that_works_only_sleeps(vigil, begin):
    process = begin(workload("waiting", "look", "works"))
    child, = children(process.pid)
    answer = seen(vigil, process.pid, lambda a: main_of(a, process.pid)["does"] == "sleeps")
    assert not main_of(answer, process.pid)["arrows"]
    os.kill(child, signal.SIGKILL)


@pytest.mark.parametrize("python, kind", [*((python, "http") for python in FOUND), *((FOUND[-1], kind) for kind in ("socket", "cell", "pipe", "naps"))], ids=str)
def test_the_thread_is_named_that_has_the_connection_in_hand(vigil, begin, python, kind):
    process = begin(WORKLOADS / "connection_in_hand.py", kind, python=python)
    child, tid = map(int, process.stdout.readline().split())
    answer = seen(vigil, process.pid, lambda a: main_of(a, process.pid)["does"] != "runs")
    arrow, = main_of(answer, child)["arrows"]
    assert (arrow["to"].get("pid"), arrow["to"].get("tid"), arrow["quality"]) == (process.pid, tid, "likely"), arrow
    assert not main_of(answer, child)["dead"]


@pytest.mark.parametrize("python", sorted(FOUND, key=lambda p: p.version)[::len(FOUND) - 1 or 1], ids=str)
def test_the_rank_that_has_called_it_with_another_number_is_told(vigil, begin, python):
    process = begin(WORKLOADS / "keyed_ranks.py", python=python)
    told = "name is 'try_1/begin' in barrier at keyed_ranks.py:13, of all other ranks 'try_0/begin'"

    def texts(answer):
        return [t.get("waiting_on", "") for p in answer["processes"] if p.get("rank") is not None for t in p["threads"] if t["main"]]
    answer = seen(vigil, process.pid, lambda a: any(told in text for text in texts(a)))
    assert [told in text for text in texts(answer)] == [False, False, True], answer
    assert "hunter" not in str(answer)


def test_who_tries_for_a_lock_waits_for_its_holder(vigil, begin, tmp_path):
    path = tmp_path / "model.lock"
    with open(path, "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        holder = subprocess.Popen(["sleep", "600"], pass_fds=[held.fileno()])
        try:
            # This process has taken the lock and is an ancestor of who tries, so it may have handed on the file: no arrow.
            process = begin(workload("waiting", "try", path))
            answer = seen(vigil, process.pid, lambda a: main_of(a, process.pid)["does"] == "sleeps")
            assert not main_of(answer, process.pid)["arrows"]
        finally:
            holder.kill()
            holder.wait()
    other = subprocess.Popen([sys.executable, "-c", "import fcntl, sys, time; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_EX);"
                              "print(1, flush=True); time.sleep(600)", str(path)], stdout=subprocess.PIPE)
    process.kill()
    try:
        assert other.stdout.readline() == b"1\n"
        process = begin(workload("waiting", "try", path))
        answer = seen(vigil, process.pid, lambda a: main_of(a, process.pid)["arrows"])
        arrow, = main_of(answer, process.pid)["arrows"]
        assert arrow["to"]["pid"] == other.pid and arrow["kind"] == "file lock" and arrow["quality"] == "likely", arrow
        assert answer["ends"][0]["kind"] == "outside"
        assert f"tries again and again to get the lock of {path}" in answer["ends"][0]["way"]
    finally:
        other.kill()
        other.wait()


def test_a_shell_that_sleeps_in_a_loop_sleeps(vigil, begin):
    process = begin(workload("waiting", "shell"))
    answer = seen(vigil, process.pid, lambda a: a["ends"] and a["ends"][0]["kind"] == "sleeps")
    assert main_of(answer, process.pid)["arrows"][0]["to"]["pid"] == children(process.pid)[0]


UNHEARD = """
import os, select, socket
door = socket.create_server(("127.0.0.1", 0))
call = socket.create_connection(door.getsockname())
taken = door.accept()[0]
door.close()
if os.fork() == 0:
    taken.close()
    call.recv(1)
call.close()
loop = select.epoll()
loop.register(taken, 0)
print("begun", flush=True)
loop.poll()
"""


def test_a_connection_that_is_not_read_from_is_watched_for_its_end(vigil, begin):
    process = begin(sys.executable, "-c", UNHEARD)
    assert "waits: end of tcp" in vigil("waits", process.pid, "--all").out.decode()


def test_a_child_that_ignores_a_request_to_end_is_told(vigil, begin):
    process = begin("bash", "-c", "trap '' TERM; sleep 600 & echo begun; wait $!; true")
    seen(vigil, process.pid, lambda answer: "which ignores SIGTERM" in str(answer))


LEASE = """
import fcntl, os, signal, sys, time
if os.fork() == 0:
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    fd = os.open(sys.argv[1], os.O_RDONLY | os.O_CREAT, 0o600)
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    os.rename(sys.argv[1], sys.argv[1] + ".leased")
    time.sleep(600)
while not os.path.exists(sys.argv[1] + ".leased"):
    time.sleep(0.01)
print("begun", flush=True)
os.open(sys.argv[1] + ".leased", os.O_WRONLY)
time.sleep(600)
"""


def test_a_lease_of_another_process_is_a_wait_within_a_limit(vigil, begin, tmp_path):
    """The kernel takes a lease back after lease-break-time, be it given up or not."""
    process = begin(sys.executable, "-c", LEASE, str(tmp_path / "shard"))
    answer = seen(vigil, process.pid, lambda a: main_of(a, process.pid)["does"] == "waits")
    thread = main_of(answer, process.pid)
    assert thread["timed"] and not thread["dead"], thread
    assert ", of which another process has a lease" in thread["waits"][0]["text"], thread


UNREAD_TERMINAL = """
import os, pty, signal, sys, termios
ours, theirs = pty.openpty()
keeper = os.fork()
if keeper == 0:
    os.close(theirs)
    os.read(ours, 100)
    if sys.argv[1] == "reads":
        while True:
            os.read(ours, 4096)
    signal.pause()
os.close(ours)
if sys.argv[1] == "reads":
    termios.tcflow(theirs, termios.TCOOFF)
print("begun", flush=True)
while True:
    os.write(theirs, b"#" * 1000)
"""


def test_a_terminal_that_its_keeper_does_not_read_leads_to_it(vigil, begin):
    process = begin(sys.executable, "-c", UNREAD_TERMINAL, "pauses")
    answer = seen(vigil, process.pid, lambda a: main_of(a, process.pid)["arrows"])
    arrow, = main_of(answer, process.pid)["arrows"]
    keeper, = (p["pid"] for p in answer["processes"] if p["ppid"] == process.pid)
    assert arrow["to"]["pid"] == keeper and arrow["kind"] == "terminal" and arrow["quality"] == "likely", arrow
    assert not main_of(answer, process.pid)["dead"]


def test_a_terminal_that_is_stopped_while_its_keeper_reads_waits_for_a_person(vigil, begin):
    process = begin(sys.executable, "-c", UNREAD_TERMINAL, "reads")
    answer = seen(vigil, process.pid, lambda a: main_of(a, process.pid)["does"] == "waits")
    assert main_of(answer, process.pid)["end"] == "person" and not main_of(answer, process.pid)["arrows"]


def test_a_job_that_works_is_left_alone(vigil, begin):
    process = begin(workload("waiting", "work"))
    answer = waits(vigil, process.pid)
    assert [e["kind"] for e in answer["ends"]] == ["runs"] and answer["dead_threads"] == 0
    assert main_of(answer, process.pid)["does"] == "runs"
    text = vigil("waits", process.pid).out.decode()
    assert "no main process waits for another" in text and re.search(r": runs$", text, re.M)


def test_many_threads(vigil, begin):
    process = begin(workload("waiting", "threads", 200))
    wait_for(lambda: in_call(process.pid, FUTEX))
    answer = waits(vigil, process.pid)
    assert len(answer["processes"][0]["threads"]) == 201
    short, whole = (vigil("waits", process.pid, *o).out.decode() for o in ([], ["--all"]))
    assert "(--all shows them)" in short and len(short.splitlines()) < 40
    assert whole.count("    thread ") == 200
    dot_check(vigil("waits", process.pid, "--dot", "--all").out.decode())
    tokens = dot_check(vigil("waits", process.pid, "--dot").out.decode())
    assert tokens.count("[") < 40


def test_names_from_others_stay_harmless(vigil, begin):
    process = begin([sys.executable, "-u", "-c", r"""
import ctypes, time
ctypes.CDLL(None).prctl(15, b'a"];x\\\n\033[2', 0, 0, 0)
print("begun")
time.sleep(1000)
"""])
    text = vigil("waits", process.pid).out.decode()
    assert "\033" not in text and "x\\\n" not in text and 'a"];x' in text
    dot = vigil("waits", process.pid, "--dot").out.decode()
    assert "\033" not in dot and '\\"];x\\\\' in dot
    dot_check(dot)
    assert waits(vigil, process.pid)["ends"][0]["kind"] == "sleeps"


def test_without_rights_it_says_which_one_is_missing(nobodys_vigil, as_nobody, begin):
    if not as_nobody:
        pytest.skip("needs root to become nobody")
    process = begin(workload("waiting", "work"))
    began = time.monotonic()
    result = nobodys_vigil("waits", process.pid, prefix=as_nobody, cwd=nobodys_vigil.folder)
    assert result.status == 3 and not result.out, result
    assert str(process.pid) in result.text and len(result.text.split()) > 8, result
    assert time.monotonic() - began < 2  # it does not wait for a second look first


def test_what_is_not_there(vigil):
    for what in ("nothing", "4194304"):
        result = vigil("waits", what)
        assert result.status == 4 and what in result.text and not result.out, result


def test_a_job_that_ends_meanwhile(vigil, begin):
    process = begin(workload("waiting", "work"))
    look = vigil.start("waits", process.pid, "--seconds", 4)
    wait_for(lambda: in_call(look.pid, 230, 115), 20, "the pause between the looks")
    end_tree(process)
    process.wait(10)
    result = vigil.finish(look, 20)
    assert result.status == 4 and "ended while it was looked at" in result.text, result


def test_wrong_calls(vigil):
    for args in (["1", "2"], ["1", "--seconds", "1"], ["1", "--seconds", "7200"], ["1", "--json", "--dot"]):
        result = vigil("waits", *args)
        assert result.status == 2 and result.text and not result.out, result
