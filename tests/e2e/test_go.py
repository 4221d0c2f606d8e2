"""Programs made by Go: their goroutines in vigil stack, and main goroutines that nobody is left to wake."""
import fcntl
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess

import pytest

from conftest import wait_for

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "workloads/go"
COMPILERS = [p for p in dict.fromkeys(os.path.realpath(p) for p in (shutil.which("go"), "/usr/lib/go-1.19/bin/go") if p and os.path.exists(p))]

if not COMPILERS:
    pytest.skip("there is no Go compiler", allow_module_level=True)


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """built(COMPILER, *FLAGS, name=NAME): a program, made once for all workers, as Go's own library is: that is what takes time."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "go"
    shared.mkdir(exist_ok=True)
    env = dict(os.environ, GOCACHE=os.environ.get("GOCACHE") or str(shared / "cache"), GOTOOLCHAIN="local",
               GOFLAGS="-buildvcs=false", CGO_ENABLED="0", GO111MODULE="off")

    def build(compiler, *flags, name="stands"):
        folder = shared / str(COMPILERS.index(compiler)) / "".join(re.findall(r"\w+", " ".join(flags)))
        with open(shared / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / name).exists():
                folder.mkdir(parents=True, exist_ok=True)
                making = [compiler, "build", *flags, "-o", folder / f"{name}.part", FOLDER / f"{name}.go"]
                subprocess.run(making, check=True, env=env, cwd=folder)
                (folder / f"{name}.part").rename(folder / name)
        return folder / name
    return build


@pytest.fixture
def started():
    running = []

    def start(*command, **more):
        running.append(subprocess.Popen(command, **more))
        return running[-1]
    yield start
    for process in running:
        process.kill()
        process.wait()


def goroutines(vigil, pid):
    answer = json.loads(vigil("stack", "--json", pid).out)
    return answer["processes"][0]


def own_trace(text):
    """{id: [(function, file, line)]} of what Go's own runtime prints at SIGQUIT; the runtime's frames left out."""
    found, lines = {}, text.splitlines()
    for before, line in zip(lines, lines[1:]):
        head = re.match(r"goroutine (\d+) .*\[", before)
        if head:
            current = found.setdefault(int(head[1]), [])
        place = re.match(r"\t(\S+):(\d+)", line)
        if place and not before.startswith(("created by", "runtime.")) and found:
            current.append((before[:before.rindex("(")], place[1], int(place[2])))
    return found


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flags", [(), ("-ldflags=-s -w",), ("-buildmode=pie",)], ids=["whole", "stripped", "pie"])
def test_goroutines_are_shown_as_the_runtime_itself_shows_them(vigil, built, started, tmp_path, compiler, flags):
    with open(tmp_path / "trace", "w") as trace:
        process = started(built(compiler, *flags), "all", stderr=trace, env=dict(os.environ, GOTRACEBACK="all"))

    def all_stand():
        p = goroutines(vigil, process.pid)
        waits = [g.get("waiting_on") for g in p.get("goroutines", []) for _ in range(g["count"]) if not g.get("runtime")]
        return p if len(waits) >= 12 and None not in waits else None
    p = wait_for(all_stand, 30, "all goroutines to wait")
    assert p["go"].startswith("go1.")
    shown = {n: g for g in p["goroutines"] for n in g["ids"]}
    reasons = {g.get("waiting_on") for g in p["goroutines"]}
    assert {"chan receive", "select", "sleep", "IO wait", "chan receive (nil chan)", "sync.Cond.Wait"} <= reasons, reasons
    assert {"semacquire"} <= reasons or {"sync.Mutex.Lock", "sync.RWMutex.RLock"} <= reasons, reasons
    twins = [g for g in p["goroutines"] if g["count"] == 3 and g["waiting_on"] == "chan receive"]
    assert len(twins) == 1 and len(twins[0]["ids"]) == 3
    process.send_signal(3)
    process.wait(timeout=30)
    truth = own_trace((tmp_path / "trace").read_text())
    compared = 0
    for number, frames in truth.items():
        if number == 0 or number not in shown or shown[number].get("runtime"):
            continue
        told = [(f["name"], f["file"], f["line"]) for f in shown[number]["frames"] if not f["name"].startswith("runtime.")]
        assert told == frames, (number, told, frames)
        compared += 1
    assert compared >= 12


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("what, says", [("channel", "chan receive"), ("mutex", "(semacquire|sync.Mutex.Lock)"),
                                        ("group", "(semacquire|sync.WaitGroup.Wait)"), ("select", "select")])
def test_a_main_goroutine_that_nobody_is_left_to_wake_is_told(vigil, built, compiler, what, says):
    job = vigil.start("run", "--hang-after", "8s", "--", built(compiler), what)
    report = wait_for(lambda: next((r for r in [json.loads(line) for line in vigil("events", "--json").out.decode().splitlines()]
                                    if r["kind"] == "hang"), None), 90, "the verdict")
    told = vigil.why()
    assert report and told["cause"]["id"] == "orphaned_wait" and told["cause"]["confidence"] == "medium", told
    assert re.search(rf"goroutine 1 waits in {says} at stands.go:\d+ in main\.", told["cause"]["text"]), told
    assert job.poll() is None, "nothing is proved, so nothing is ended"


def concluded(binary, pid, seconds=1):
    """What two looks say of goroutine 1: unknown, lives, outside, somebody, nobody."""
    told = subprocess.run([binary.parents[2] / "tests/tool/gopeek", str(pid), str(seconds)], capture_output=True, text=True, timeout=60)
    return re.match(r"(\w+)( \(serves\))?( \(owed\))?:", told.stdout)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flags", [("-ldflags=-s -w",)], ids=["stripped"])
@pytest.mark.parametrize("what, wanted", [("worker", "somebody"), ("global", "somebody"), ("chain", "somebody"), ("timer", "somebody"),
                                          ("signal", "somebody"), ("context", "unknown"), ("compute", "lives"), ("sleep", "lives"),
                                          ("channel", "nobody"), ("mutex", "nobody"), ("group", "nobody"), ("select", "nobody"),
                                          ("cond", "nobody"), ("errors", "nobody"), ("permits", "nobody"), ("batches", "nobody"),
                                          ("results", "nobody"), ("after", "unknown"), ("stamps", "unknown"),
                                          ("answer", "nobody"), ("deadline", "somebody"), ("notified", "somebody")])
def test_whether_anybody_is_left_is_found_out(binary, built, started, compiler, flags, what, wanted):
    process = started(built(compiler, *flags), what, "quick")

    def same():
        found = concluded(binary, process.pid)
        return found and found[1] == wanted
    wait_for(same, 60, f"{what} to be {wanted}")
    assert all(concluded(binary, process.pid)[1] == wanted for _ in range(3))


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_timer_that_does_not_say_so_is_known_by_what_it_sends(binary, built, started, compiler):
    process = started(built(compiler), "after", "quick", env=dict(os.environ, GODEBUG="asynctimerchan=1"))
    wait_for(lambda: (found := concluded(binary, process.pid)) and found[1] == "unknown", 60, "it to stand")
    assert all(concluded(binary, process.pid)[1] == "unknown" for _ in range(3))


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("what, wanted", [("reader", "nobody"), ("holder", "somebody"), ("meeting", "somebody")])
def test_a_visitor_does_not_give_back_a_lock(binary, built, started, compiler, what, wanted):
    """Who waits at a door may come to what the lock guards by others, but has not taken the lock."""
    process = started(built(compiler), what, "quick")
    found = wait_for(lambda: (found := concluded(binary, process.pid)) and found[2] and found[1] in ("nobody", "somebody") and found, 60,
                     "its main goroutine to stand")
    assert found[1] == wanted
    assert all(concluded(binary, process.pid)[1] == wanted for _ in range(3))


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_lock_that_is_waited_for_beside_a_door_is_told(vigil, built, compiler):
    vigil.start("run", "--hang-after", "8s", "--", built(compiler), "reader")
    wait_for(lambda: "hang" in [json.loads(line)["kind"] for line in vigil("events", "--json").out.decode().splitlines()], 90, "the verdict")
    told = vigil.why()
    assert (told["cause"]["id"], told["cause"]["confidence"]) == ("orphaned_wait", "medium"), told
    assert re.search(r"(semacquire|sync.RWMutex.RLock) at stands.go:\d+ in main\.\(\*metrics\)\.mean", told["cause"]["text"]), told
    assert "Those that could end it stand themselves" in told["cause"]["text"], told


def hang_of(vigil):
    found = [json.loads(line) for line in vigil("events", "--json").out.decode().splitlines()]
    return [e for e in found if e["kind"] == "hang"]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_lock_that_a_handler_kept_is_told(vigil, built, compiler):
    vigil.start("run", "--hang-after", "8s", "--", built(compiler, name="kept"), "keep")
    wait_for(lambda: hang_of(vigil), 90, "the verdict")
    told = vigil.why()
    assert (told["cause"]["id"], told["cause"]["confidence"]) == ("lock_not_released", "medium"), told
    assert re.search(r"The others wait for process \d+ \(kept\), of which goroutine \d+ waits for a lock: \S+ at kept.go:37",
                     told["cause"]["text"]), told


@pytest.mark.parametrize("what", ["sleep", "call"])
def test_a_handler_that_has_a_lock_for_long_is_not_accused(vigil, built, what):
    result = vigil("run", "--hang-after", "8s", "--", built(COMPILERS[0], name="kept"), what, timeout=90)
    assert result.status == 0, result
    assert not hang_of(vigil)


def test_a_server_whose_main_goroutine_waits_for_ever_serves(binary, built, started):
    process = started(built(COMPILERS[0]), "server", stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    wait_for(lambda: (concluded(binary, process.pid) or [None] * 3)[2], 60, "its listener to wait")
    assert not concluded(binary, process.pid)[3], "nobody could end the wait of its main goroutine, as is meant"


@pytest.mark.parametrize("compiler", COMPILERS)
def test_goroutines_that_stand_for_ever_are_whom_the_main_one_waits_for(binary, built, started, compiler):
    for _ in range(4):  # what happens to lie in the heap differs from run to run
        process = started(built(compiler), "stuck", "quick")
        wait_for(lambda: (found := concluded(binary, process.pid)) and found[1] == "nobody" and found[2] and found[3], 30, "all to stand")


def test_ten_thousand_goroutines_are_read_and_the_rest_counted(vigil, built, started):
    process = started(built(COMPILERS[0]), "many")
    p = wait_for(lambda: (p := goroutines(vigil, process.pid)).get("goroutines_unread") and p, 60, "all goroutines")
    assert sum(g["count"] for g in p["goroutines"]) + p["goroutines_unread"] >= 12000
    assert max(g["count"] for g in p["goroutines"]) > 9000 and all(len(g["ids"]) <= 100 for g in p["goroutines"])


# ---- goroutines in the graph of waits ----


@pytest.fixture
def ranks(started, tmp_path):
    """ranks(PROGRAM, WHAT, N): N ranks under one shell; the shell's process number."""
    def start(program, what, n):
        line = "for r in $(seq 0 $(($3 - 1))); do RANK=$r LOCAL_RANK=$r WORLD_SIZE=$3 $0 $1 $2 & done; wait"
        shell = started("bash", "-c", line, program, what, tmp_path, str(n), start_new_session=True)
        return shell.pid
    yield start
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if str(tmp_path) in (process / "cmdline").read_text().split("\0"):
                os.kill(int(process.name), 9)
        except OSError:
            pass


def graph(vigil, pid):
    return json.loads(vigil("waits", pid, "--json").out)


def first_end(vigil, pid, wanted, what):
    def there():
        answer = graph(vigil, pid)
        return answer["ends"] and wanted(answer["ends"][0]) and answer
    return wait_for(there, 60, what)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_calls_under_a_lock_are_a_circle_of_goroutines(vigil, built, ranks, compiler):
    pid = ranks(built(compiler, name="calls"), "lock", 3)
    answer = first_end(vigil, pid, lambda end: end["kind"] == "circle" and end["threads"] == 5, "the circle")
    assert answer["ends"][0]["ranks"] == [0, 1] and answer["dead_threads"] == 0, answer["ends"]
    of_lock = [t for p in answer["processes"] for t in p["threads"]
               if re.search(r"(sync.Mutex.Lock|semacquire) at calls.go:\d+ in main.\(\*node\).handle", t.get("waiting_on", ""))]
    assert len(of_lock) == 2 and all(t["goroutine"] > 1 and t["waits"][0]["kind"] == "object" for t in of_lock), of_lock
    assert all(len(t["arrows"]) == 1 and t["arrows"][0]["quality"] == "likely" for t in of_lock), of_lock
    text = vigil("waits", pid, "--all").out.decode()
    assert re.search(r"goroutine \d+: waits: (sync.Mutex.Lock|semacquire) at\s+calls.go:\d+", text) and "its goroutine 1 (likely)" in re.sub(r"\s+", " ", text), text


@pytest.mark.parametrize("compiler", COMPILERS)
def test_requests_that_wait_for_one_more_lead_to_the_rank_that_has_not_come(vigil, built, ranks, compiler):
    pid = ranks(built(compiler, name="calls"), "meet", 3)
    answer = first_end(vigil, pid, lambda end: end["kind"] == "visitor" and end["followers"] == 2, "both requests")
    assert answer["ends"][0]["ranks"] == [0], answer["ends"]


def test_an_idle_server_and_its_idle_client_prove_nothing_of_each_other(vigil, built, ranks):
    """The client's goroutine reads the connection all the time, as the server's does at its other end."""
    pid = ranks(built(COMPILERS[0], name="calls"), "idle", 2)

    def settled():
        answer = graph(vigil, pid)
        readers = [t for p in answer["processes"] for t in p["threads"] if "goroutine" in t and "recv, tcp" in t.get("waiting_on", "")]
        return len(readers) == 2 and answer
    answer = wait_for(settled, 60, "both to be idle")
    assert answer["dead_threads"] == 0 and not any(e["kind"] == "circle" and e["followers"] for e in answer["ends"]), answer["ends"]


@pytest.mark.slow
def test_a_main_goroutine_whose_worker_lives_is_left_alone(vigil, built):
    """Looked at closely as its steps are missed, and found to wait for a goroutine that lives."""
    job = vigil.start("run", "--", built(COMPILERS[0]), "worker")
    wait_for(lambda: b"suspected" in vigil("events", "--json").out, 90, "the suspicion")
    wait_for(lambda: b"another goroutine that lives" in vigil("events", "--json").out, 90, "the judgement")
    assert b'"hang"' not in vigil("events", "--json").out and job.poll() is None


@pytest.mark.slow
@pytest.mark.parametrize("how, says", [("compute", "computing"), ("sleep", "It sleeps"), ("workers", "computing")])
def test_a_slow_rank_made_by_go_is_named(vigil, built, tmp_path, how, says):
    """By the waits of its goroutines: any thread of the kernel runs any of them."""
    slow = tmp_path / "slow"
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    job = vigil.start("run", "--nproc", 3, "--", built(COMPILERS[0], name="slowrank"), how, port, slow,
                      stdout=subprocess.DEVNULL)
    wait_for(lambda: any("step 250 " in f.read_text() for f in vigil.state.glob("jobs/*/attempt-0/rank-1.out")), 120, "steps as usual")
    slow.touch()
    wait_for(lambda: b'"straggler"' in vigil("events", "--json").out or job.poll() is not None, 240, "the slow rank")
    assert job.poll() is None
    report = vigil.why()
    assert report["kind"] == "straggler" and report["culprit_ranks"] == [1] and says in report["cause"]["text"], report
