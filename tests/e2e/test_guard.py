"""The guard at work on real memory: races, courtesy, policies, its own death, the jobs that make it hard."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import psutil
import pytest

from conftest import wait_for, workload
from guardkit import (MIB, groups_left, guard_of, guardtrap, hog, job_ids, memory_group, no_trace,  # noqa: F401
                      nobodys_hog_run, nobodys_vigil, report_of, states_of)

PYTHON = "/usr/bin/python3"


# --- races: the kernel's killer never gets its turn, and nothing is left

RACES = {
    "one thread": (["--threads", 1], 256),
    "two threads": (["--threads", 2], 256),
    "two threads, much memory": (["--threads", 2], 1024),
    "slow": (["--rate", "200M"], 256),
    "ignores SIGTERM": (["--trap-term"], 256),
    "shared memory": (["--way", "shm"], 256),
    "huge pages": (["--huge", "on"], 512),
    "no huge pages": (["--huge", "off"], 256),
    "small eaters, one after another": (["--way", "fork", "--eater", "2M"], 256),
}


@pytest.mark.parametrize("race", RACES)
def test_a_race_is_won_and_leaves_no_trace(vigil, small_machine, hog, race):
    args, mib = RACES[race]
    box = small_machine(mib)
    result = vigil("run", "--", *hog(*args), box=box, timeout=60)
    assert result.status == 137, result
    assert box.kernel_kills() == 0, "the kernel's killer did not get its turn"
    report = vigil.why()
    assert (report["kind"], report["killer"]) == ("memory_kill", "vigil")
    no_trace(vigil, box)


def test_a_filler_of_a_memory_disk_is_found_though_it_owns_nothing(vigil, small_machine, hog, tiny_disk):
    box = small_machine(256)
    disk = tiny_disk(2 * 1024 * 1024)
    result = vigil("run", "--", *hog("--way", "tmpfs", "--dir", disk), box=box)
    assert result.status == 137, result
    assert box.kernel_kills() == 0
    assert vigil.why()["kind"] == "memory_kill"
    no_trace(vigil, box)


def test_without_freezing_the_race_is_won_too(vigil, small_machine, hog):
    box = small_machine(512)
    result = vigil("run", "--no-freeze", "--", *hog("--rate", "500M"), box=box)
    assert result.status == 137, result
    assert box.kernel_kills() == 0
    assert "SIGSTOP" not in json.dumps(vigil.why()) and "freezer" not in vigil.why()["action"]["method"]
    assert "freeze_us" not in vigil.why()["action"]
    no_trace(vigil, box)


FAMILY = """
import mmap, os, sys, time
count, each = int(sys.argv[1]), int(sys.argv[2])
for n in range(count):
    if os.fork() == 0:
        block = mmap.mmap(-1, max(each, 4096), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for page in range(0, each, 4096):
            block[page] = 1
        time.sleep(120)
        os._exit(0)
print("ready", flush=True)
blocks = []
while True:
    blocks.append(mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
    for page in range(0, 1 << 20, 4096):
        blocks[-1][page] = 1
    time.sleep(0.002)
"""


@pytest.mark.parametrize("count", [120, 600])
def test_a_job_of_many_processes_ends_whole(vigil, small_machine, count):
    box = small_machine(1024)
    result = vigil("run", "--", PYTHON, "-c", FAMILY, count, 64 * 1024, box=box, timeout=120)
    assert result.status == 137, result
    assert b"ready" in result.out
    assert box.kernel_kills() == 0
    report = vigil.why()
    assert report["action"]["processes_ended"] == count + 1
    own = {key: value for key, value in report.items() if key != "top"}  # other programs of the machine have names of their own
    assert "stuck" not in json.dumps(own), "the dead are not called stuck"
    no_trace(vigil, box)


# --- the guard itself dies

def stop_calmly(vigil, process):
    process.send_signal(signal.SIGTERM)
    return vigil.finish(process, 30)


def test_a_guard_that_is_killed_is_replaced_and_guards_on(vigil, small_machine, tmp_path):
    box = small_machine(256)
    go = tmp_path / "go"
    wait = ("import os, runpy, sys, time\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.01)\n"
            "sys.argv = ['hog.py', '2000', '--rate', '400']; runpy.run_path(%r, run_name='__main__')" % workload("hog")[2])
    process = vigil.start("run", "--", PYTHON, "-u", "-c", wait, go, box=box)
    first = guard_of(process)
    os.kill(first, signal.SIGKILL)
    second = guard_of(process, besides=first)
    assert second != first
    go.touch()
    result = vigil.finish(process, 60)
    assert result.status == 137, result
    assert result.text.count("the guard process died") == 1, "said, and once"
    assert box.kernel_kills() == 0
    report = vigil.why()
    assert (report["kind"], report["killer"]) == ("memory_kill", "vigil")
    no_trace(vigil, box)


@pytest.mark.parametrize("freeze", ["--freeze", "--no-freeze"])
def test_a_guard_killed_before_it_kills_leaves_nothing_frozen_and_its_case_is_told(vigil, small_machine, guardtrap, freeze):
    box = small_machine(256)
    result = vigil("run", freeze, "--", *workload("hog", 2000, "--rate", 300), box=box, env=guardtrap("die"))
    assert result.status == 137, result
    assert result.text.count("the guard process died") == 1
    assert box.kernel_kills() == 0
    assert vigil.why()["killer"] == "vigil"
    events = vigil("events", job_ids(vigil)[0], "--json").out.decode()
    assert "guard_died" in events
    assert "replayed" in json.dumps(vigil.why()), "the report says what it is made of"
    assert vigil("jobs", "--json").json()["memory_kills"] == 1
    no_trace(vigil, box)


def test_a_guard_killed_after_it_killed_is_replayed_into_the_report(vigil, small_machine, guardtrap):
    box = small_machine(256)
    result = vigil("run", "--", *workload("hog", 2000, "--rate", 300), box=box, env=guardtrap("die-after"))
    assert result.status == 137, result
    report = vigil.why()
    assert (report["kind"], report["killer"]) == ("memory_kill", "vigil")
    assert report["victim"]["own_bytes"] > 64 * MIB
    # on a busy machine the job outlives that kill, and the next guard's has a report of its own
    assert any("replayed" in p.read_text() for p in vigil.state.glob("jobs/*/incidents/*.json")), report
    no_trace(vigil, box)


def test_what_a_dying_guard_had_stopped_by_signal_goes_on(nobodys_hog_run, guardtrap):
    """Without a group of its own the job's processes are stopped one by one, and must be continued one by one."""
    vigil, run = nobodys_hog_run
    result = run("--memory-limit", "128M", env=guardtrap("die"))
    assert result.status == 137, result
    assert result.text.count("the guard process died") == 1
    assert vigil.why()["killer"] == "vigil"


def test_a_vigil_that_is_killed_takes_its_job_along_and_says_so(vigil, small_machine):
    box = small_machine(256)
    process = vigil.start("run", "--", "/bin/sh", "-c", "sleep 300 & sleep 300 & echo ready; wait", box=box)
    wait_for(lambda: len(box.pids()) >= 5, 20, "the job to run")
    guard_of(process)
    wait_for(lambda: vigil("jobs", "--json").out, 20, "the job to be stored")
    process.kill()
    process.wait(10)
    no_trace(vigil, box)
    report = vigil.why()
    assert report["cause"]["id"] == "supervisor_killed"
    assert report["victim"]["pid"] == process.pid


@pytest.mark.parametrize("ms", [0, 1, 2, 3, 4, 6, 8, 10, 14, 20])
def test_a_vigil_that_is_killed_while_it_starts_leaves_nobody_behind(vigil, ms):
    mark = f"{100 + ms}.{os.getpid()}"
    process = vigil.start("run", "--nproc", 3, "--", "sleep", mark)
    end = time.monotonic() + ms / 1000
    while time.monotonic() < end:
        pass
    process.kill()
    # Who is left is ended by the guard, which first has to find out.
    def left():
        return [p for p in psutil.process_iter(["cmdline", "name"])
                if mark in (p.info["cmdline"] or []) or p.info["name"] == "vigil-guard" and p.ppid() == process.pid]
    wait_for(lambda: not left(), 20, "the end of all ranks")


def test_a_vigil_that_is_killed_while_memory_is_short_leaves_nothing_frozen(vigil, small_machine):
    box = small_machine(128)
    process = vigil.start("run", "--", *workload("hog", 104, "--hold", 300, "--ignore-term"), box=box)
    wait_for(lambda: process.stdout.readline().startswith(b"ready"), 20)
    process.kill()
    process.wait(10)
    no_trace(vigil, box)


# --- the decision path allocates nothing

def test_from_waiting_to_the_kill_the_guard_allocates_nothing(vigil, small_machine, guardtrap, tmp_path):
    box = small_machine(256)
    result = vigil("run", "--retries", "1", "--backoff", "10ms", "--", *workload("hog", 2000, "--rate", 400), box=box,
                   env=guardtrap())
    assert result.status == 137, result
    lines = (tmp_path / "allocations").read_text().splitlines()
    assert [line.split()[0] for line in lines] == ["armed"], "the trap was set, and nothing fell into it"
    assert vigil.why()["kind"] == "memory_kill"


def test_the_trap_that_counts_allocations_works(binary, guardtrap, tmp_path):
    """A program of our guard's name that does allocate is caught, so that an empty list means something."""
    code = ("import ctypes, select; ctypes.CDLL(None).prctl(15, b'vigil-guard', 0, 0, 0)\n"
            "import ctypes as c; l = c.CDLL(None); l.epoll_pwait2(-1, None, 0, None, None); l.malloc(4321)")
    subprocess.run([PYTHON, "-c", code], env={**os.environ, **{k: str(v) for k, v in guardtrap().items()}}, check=True)
    lines = (tmp_path / "allocations").read_text().splitlines()
    assert lines[0].startswith("armed") and "malloc 4321" in lines


# --- courtesy

SAVER = """
import mmap, os, signal, sys, time
where, stubborn = sys.argv[1], len(sys.argv) > 2
def save(number, frame):
    with open(where, "w") as f:
        f.write(f"saved after {len(blocks)} MiB")
    if not stubborn:
        os._exit(143)
signal.signal(signal.SIGTERM, save)
blocks = []
while True:
    blocks.append(mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
    for page in range(0, 1 << 20, 4096):
        blocks[-1][page] = 1
    time.sleep(0.001 if len(blocks) < 435 else 0.12)
"""


def test_a_job_that_grows_slowly_gets_time_to_save_its_work(vigil, small_machine, tmp_path):
    box, saved = small_machine(512), tmp_path / "saved"
    began = time.monotonic()
    result = vigil("run", "--grace", "1s", "--memory-threshold", "0.9", "--", PYTHON, "-c", SAVER, saved, box=box)
    assert result.status == 137, result
    assert saved.read_text().startswith("saved after"), "it was asked first"
    report = vigil.why()
    assert (report["kind"], report["killer"]) == ("memory_kill", "vigil")
    assert "SIGTERM" in json.dumps(report["action"]), "the report says how it was ended"
    assert time.monotonic() - began < 30
    assert box.kernel_kills() == 0


def test_a_job_that_saves_and_goes_on_is_killed_at_the_deadline(vigil, small_machine, tmp_path):
    box, saved = small_machine(512), tmp_path / "saved"
    result = vigil("run", "--grace", "1s", "--memory-threshold", "0.9", "--", PYTHON, "-c", SAVER, saved, "stubborn", box=box)
    assert result.status == 137, result
    assert saved.exists()
    assert box.kernel_kills() == 0
    assert vigil.why()["killer"] == "vigil"


def test_without_courtesy_nobody_is_asked(vigil, small_machine, tmp_path):
    box, saved = small_machine(512), tmp_path / "saved"
    result = vigil("run", "--grace", "0", "--memory-threshold", "0.9", "--", PYTHON, "-c", SAVER, saved, box=box)
    assert result.status == 137, result
    assert not saved.exists()


# --- whom it takes

WORKERS = """
for worker in "largest {largest} 0" "middle 60 0" "fastest 20 60" "newest 70 0"; do
    set -- $worker
    {python} -u -c '{code}' $1 $2 $3 {go} &
    sleep 0.1 # start times are counted in hundredths
done
wait
"""
WORKER = """
import mmap, os, sys, time
take, rate, go, b = int(sys.argv[2]), float(sys.argv[3]), sys.argv[4], []
def eat():
    b.append(mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
    for p in range(0, 1 << 20, 4096): b[-1][p] = 1
for _ in range(take): eat()
os.write(1, f"{sys.argv[1]} {os.getpid()}\\n".encode()) # in one piece
while not os.path.exists(go): time.sleep(0.01)
while True:
    if rate: eat()
    time.sleep(1 / (rate or 1))
"""


@pytest.mark.parametrize("policy, expected", [("largest", "largest"), ("fastest", "fastest"), ("newest", "newest"),
                                              ("group", "newest")])
def test_the_policy_decides_which_independent_worker_goes(vigil, small_machine, tmp_path, policy, expected):
    box = small_machine(512)
    # What they took at their start is growth too, where it was seen: the fastest has to grow by more than that.
    largest = 120 if policy == "fastest" else 200
    process = vigil.start("run", "--policy", policy, "--grace", "0", "--", "/bin/sh", "-c",
                          WORKERS.format(python=PYTHON, code=WORKER, go=tmp_path / "go", largest=largest), box=box)
    pids = {}
    while len(pids) < 4:
        name, pid = process.stdout.readline().split()
        pids[name.decode()] = int(pid)
    (tmp_path / "go").touch() # all hold what they will hold; one begins to grow
    report = report_of(vigil, kind="memory_kill", deadline_s=60)
    assert report["victim"]["pid"] == pids[expected], (pids, report["candidates"])
    assert report["policy"]["name"] == policy
    gone = wait_for(lambda: [name for name, pid in pids.items() if pid not in states_of([pid])
                             or states_of([pid])[pid] == psutil.STATUS_ZOMBIE], 10)
    told = [json.loads(p.read_text())["candidates"] for p in sorted(vigil.state.glob("jobs/*/incidents/*.json"))]
    assert expected in gone and "middle" not in gone, (pids, told)
    assert all(s != psutil.STATUS_STOPPED for s in states_of(pids.values()).values()), "and none stays stopped"
    assert box.kernel_kills() == 0
    process.send_signal(signal.SIGTERM)
    vigil.finish(process, 30)
    no_trace(vigil, box)


# --- limits and attempts

NAMED = """
import time
open("/proc/self/comm", "w").write("raylet")
time.sleep(1)
x = [b"x" * (1 << 20) for _ in range(1000)]
"""


def test_a_hog_that_borrows_a_daemons_name_is_the_victim(vigil):
    """An innocent worker and a hog below a shell; the hog calls itself raylet."""
    script = f'{PYTHON} -c "$1" & {PYTHON} -c "$2" & wait'
    worker = "x = [b'x' * (1 << 20) for _ in range(60)]\nimport time\ntime.sleep(60)"
    process = vigil.start("run", "--memory-limit", "200M", "--grace", "0", "--policy", "largest", "--",
                          "sh", "-c", script, "sh", NAMED, worker)
    report = report_of(vigil, kind="memory_kill")
    assert report["victim"]["name"] == "raylet", report["victim"]
    assert report["candidates"][0]["own_bytes"] > 100 * MIB
    process.send_signal(signal.SIGTERM)
    vigil.finish(process, 30)


def test_a_limit_is_kept_without_a_group_of_its_own(nobodys_hog_run):
    vigil, run = nobodys_hog_run
    result = run("--memory-limit", "128M", hog=("1000", "--rate", "200"))
    assert result.status == 137, result
    report = vigil.why()
    assert report["memory"]["scope"] == "job"
    assert report["victim"]["own_bytes"] < 160 * MIB


def test_retries_wait_longer_each_time_and_keep_their_logs_apart(vigil):
    code = ("import os, runpy, sys, time; n = int(os.environ['RESTART_COUNT']); print('attempt', n, time.time_ns(), flush=True)\n"
            "sys.argv = ['hog.py', '400', '--rate', '200']\nif n < 2: runpy.run_path(%r, run_name='__main__')" % workload("hog")[2])
    began = time.monotonic()
    result = vigil("run", "--memory-limit", "96M", "--retries", "3", "--backoff", "300ms", "--", PYTHON, "-u", "-c", code)
    took = time.monotonic() - began
    assert result.status == 0, result
    starts = []
    for attempt in range(3):
        kept = vigil.log(attempt=attempt).read_text().split()
        assert kept[:2] == ["attempt", str(attempt)]
        starts.append(int(kept[2]))
    events = [json.loads(line) for line in vigil("events", job_ids(vigil)[0], "--json").out.splitlines()]
    retries = [e for e in events if e["kind"] == "retry"]
    assert len(retries) == 2 and "0.3 s" in retries[0]["text"] + retries[0].get("reason", "") or "300" in retries[0]["text"]
    assert took > 0.3 + 0.6, "the second wait is twice the first"


def test_two_attempts_that_die_alike_are_the_last(vigil):
    code = ("import runpy, sys; print('step 7', flush=True); sys.argv = ['hog.py', '400', '--rate', '200']\n"
            "runpy.run_path(%r, run_name='__main__')" % workload("hog")[2])
    result = vigil("run", "--memory-limit", "96M", "--retries", "5", "--backoff", "10ms", "--", PYTHON, "-u", "-c", code)
    assert result.status == 137, result
    assert "giving up" in result.text
    assert vigil("jobs", "--json").json()["attempt"] == 1, "the second was the last"
    assert vigil.why()["retry"]["next"] == "give_up"


# --- jobs that make it hard

def test_a_victim_that_ends_by_itself_is_not_said_to_have_been_killed(nobodys_hog_run, guardtrap):
    """Between the choice and the signal somebody else ended it: no signal hits anybody else, and the report says so."""
    vigil, run = nobodys_hog_run
    result = run("--memory-limit", "128M", "--no-freeze", env=guardtrap("too-late"))
    assert result.status == 128 + signal.SIGKILL, result
    events = vigil("events", job_ids(vigil)[0], "--json").out.decode()
    assert "had already ended by itself" in events
    report = vigil.why()
    assert (report["kind"], report["killer"] == "vigil") == ("killed_by", False), report
    assert vigil("jobs", "--json").json()["memory_kills"] == 0


DAEMON = """
import ctypes, mmap, os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
alive, held = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    libc = ctypes.CDLL(None)
    libc.prctl(15, b"kworker/0:1", 0, 0, 0)
    os.execv(sys.executable, ["[kworker/0:1]", "-c", {hog!r}])
os.close(held); os.wait(); os.read(alive, 1)
"""
INNER = """
import mmap, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
b = []
while True:
    b.append(mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
    for p in range(0, 1 << 20, 4096): b[-1][p] = 1
    time.sleep(0.004)
"""


def test_a_daemon_in_disguise_that_ignores_sigterm_is_found_and_ended(vigil, small_machine):
    box = small_machine(256)
    result = vigil("run", "--", PYTHON, "-c", DAEMON.format(hog=INNER), box=box)
    assert box.kernel_kills() == 0
    report = vigil.why()
    assert (report["kind"], report["killer"]) == ("memory_kill", "vigil"), result
    assert "kworker" in json.dumps(report["victim"])
    no_trace(vigil, box)


def test_a_job_that_is_stopped_when_memory_runs_out_ends_and_is_not_continued(vigil, small_machine, tmp_path):
    """The stopped trainer holds the memory, another process of the machine takes the rest."""
    box = small_machine(256)
    process = vigil.start("run", "--", *workload("hog", 150, "--hold", 300), box=box)
    wait_for(lambda: process.stdout.readline().startswith(b"ready"), 20)
    job = next(c for c in psutil.Process(process.pid).children() if not c.name().startswith("vigil-"))
    job.send_signal(signal.SIGSTOP)
    other = subprocess.Popen(workload("hog", 95, "--hold", 300), preexec_fn=box.enter, stdout=subprocess.PIPE)
    try:
        result = vigil.finish(process, 60)
        assert result.status == 137, result
        assert other.poll() is None, "only the job is vigil's to end"
        assert vigil.why()["kind"] == "memory_kill"
        assert box.kernel_kills() == 0
    finally:
        other.kill()
        other.wait()
        other.stdout.close()
    no_trace(vigil, box)


def test_a_job_that_stops_itself_for_good_reason_stays_stopped(vigil, small_machine):
    """A pulse of the guard must not continue what somebody else has stopped."""
    box = small_machine(256)
    process = vigil.start("run", "--", *workload("hog", 100, "--hold", 300), box=box)
    wait_for(lambda: process.stdout.readline().startswith(b"ready"), 20)
    job = next(c for c in psutil.Process(process.pid).children() if not c.name().startswith("vigil-"))
    job.send_signal(signal.SIGSTOP)
    wait_for(lambda: job.status() == psutil.STATUS_STOPPED, 5)
    os.kill(guard_of(process), signal.SIGKILL)
    guard_of(process)
    assert job.status() == psutil.STATUS_STOPPED
    job.kill()
    vigil.finish(process, 30)
