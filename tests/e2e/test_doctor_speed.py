"""`vigil doctor JOB|PID`: programs that something holds back, and programs that nothing does (tests/workloads/speed.py).

Other programs use the machine at the same time. That they do is a true finding ("others-busy"), so it is passed over; a
planted fault is looked at until it comes first, within a deadline, and a healthy program may never have another finding.
"""
import os
import signal
import subprocess
import threading
import time

import pytest

from conftest import WORKLOADS, end_tree, wait_for

PYTHON = "/usr/bin/python3"


# They say when it is loaded, which takes seconds.
OF_TORCH = ("loader_in_main", "loader_in_main_fast", "loader_restarts", "loader_epochs")


def own(told):
    return [f for f in told["findings"] if f["id"] != "others-busy"]


@pytest.fixture
def program(tmp_path):
    started = []

    def start(name, *args, prefix=()):
        with open(tmp_path / name, "w+", encoding="ascii") as out:
            p = subprocess.Popen([*prefix, PYTHON, str(WORKLOADS / "speed.py"), name, "--for", "100", *args],
                                 stdout=out, env={**os.environ, "SPEED_DIR": str(tmp_path)}, start_new_session=True)
        started.append(p)
        if name in OF_TORCH:
            wait_for((tmp_path / name).read_text, 60, "torch to be loaded")
        return p
    yield start
    for p in started:
        if p.poll() is None:
            os.kill(p.pid, signal.SIGCONT)
        end_tree(p)
        p.wait(10)


def look(vigil, what, seconds=3):
    result = vigil("doctor", what, "--for", seconds, "--json", timeout=90)
    assert result.status in (0, 1), result
    told = result.json()
    assert told["schema"] == "vigil.findings/1"
    assert result.status == (1 if any(f["severity"] != "note" for f in told["findings"]) else 0)
    return told


def first(vigil, what, name):
    """The finding of that name, as soon as it is the first one."""
    end, crowded = time.monotonic() + 60, True
    while True:
        told = look(vigil, what)
        found = own(told)[:1]
        if found and found[0]["id"] == name:
            found = found[0]
            break
        # Where others want the same processors all the time, that is what holds it back.
        crowded = crowded and any(f["id"] == "others-busy" for f in told["findings"])
        if time.monotonic() > end:
            if crowded:
                pytest.skip("so many programs run beside it that they are what holds it back")
            pytest.fail(f"{name} was not named first: {told}")
    assert found["evidence"] and found["advice"] and 0 < found.get("cost_ratio", 1) <= 1
    assert found["confidence"] in ("high", "medium", "low")
    return found


needs_two = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two processors")


needs_torch = pytest.mark.skipif(subprocess.run([PYTHON, "-c", "import importlib.util as u; exit(not u.find_spec('torch'))"],
                                                check=False).returncode != 0, reason="needs PyTorch")

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="the calls of a thread that runs are seen with BPF")


@needs_two
@pytest.mark.slow
@pytest.mark.parametrize("name, finding, speedup", [
    ("gil", "gil-bound", (1.1, 2.1)),
    ("one_worker", "one-worker", (1.4, 2.1)),
    ("cpuset", "cpuset-small", (1.5, None)),
    ("lock", "lock-contention", (1.3, 2.1)),
    ("loader", "loader-bound", (1.1, 2.1)),
    ("serial", "serial-part", (1.1, 2.1)),
    ("each_waits", "one-at-a-time", (1.1, 2.1)),
    ("process_lock", "lock-contention", (1.1, 2.1)),
    ("poll_thread", "sleeping", (2, None)),
    ("output", "output-wait", (1.5, None)),
    ("small_io", "small-io", (None, None)),
    ("process_each", "process-each", (None, None)),
    ("big_args", "main-bound", (None, None)),
    ("faults", "page-faults", (None, None)),
    ("gil_loader", "gil-bound", (1.1, 2.1)),
    pytest.param("loader_in_main", "loader-in-main", (1.1, 2.1), marks=needs_torch),
    pytest.param("loader_restarts", "loader-restarts", (None, None), marks=needs_torch),
    pytest.param("asks", "busy-waiting", (None, None), marks=needs_root),
])
def test_a_planted_fault_is_named_first_with_its_gain(vigil, program, name, finding, speedup):
    found = first(vigil, program(name).pid, finding)
    least, most = speedup
    assert ("speedup" in found) == (least is not None)
    assert least is None or found["speedup"] >= least and (most is None or found["speedup"] <= most), found


# Waits for SIGUSR1, and only then starts its workers.
LATER = """
import runpy, signal, sys
signal.signal(signal.SIGUSR1, lambda *_: None)
signal.pause()
sys.argv[0] = sys.argv[1]
del sys.argv[1]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@needs_two
def test_workers_that_start_while_it_is_watched_are_watched(vigil):
    p = subprocess.Popen([PYTHON, "-c", LATER, str(WORKLOADS / "speed.py"), "one_worker", "--for", "100"],
                         stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_for(lambda: signal_is_caught(p.pid, signal.SIGUSR1), 30, "the program to wait")
        doctor = vigil.start("doctor", p.pid, "--for", 12, "--json")
        wait_for(lambda: b"doctor" in open(f"/proc/{doctor.pid}/cmdline", "rb").read() and signal_is_caught(doctor.pid), 20,
                 "the doctor to watch")
        os.kill(p.pid, signal.SIGUSR1)
        told = vigil.finish(doctor, 60).json()
        assert len(told["watched"]["processes"]) == 3
        assert told["watched"]["seconds"] < 12
    finally:
        end_tree(p)
        p.wait(10)


def test_a_stopped_process_is_named(vigil, program):
    p = program("compute")
    os.kill(p.pid, signal.SIGSTOP)
    found = first(vigil, p.pid, "stopped")
    assert found["cost_ratio"] > 0.9 and f"kill -CONT {p.pid}" in found["advice"][0]


def test_memory_that_is_full_is_named_where_it_is_counted(vigil, program):
    p = program("stream")
    told = look(vigil, p.pid, 4)
    if "limit_bytes_per_s" in told["watched"]["memory_traffic"]:
        assert "float32" in " ".join(first(vigil, p.pid, "memory-bandwidth")["advice"])
    else:
        assert own(told) == [], "it looks like a program that computes"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["compute", "sleeping", "cron", "idle_server", "thread_server", "pool_even", "loader_ahead",
                                  "hash_threads", "pipeline", "child", "event_loop", "idle_pool", "many_threads",
                                  "looks_meanwhile", "busy_loop", "cooperative", "late_pool",
                                  pytest.param("loader_in_main_fast", marks=needs_torch),
                                  pytest.param("loader_epochs", marks=needs_torch)])
def test_a_healthy_program_has_no_finding(vigil, program, name):
    told = look(vigil, program(name).pid, 4)
    assert own(told) == []
    assert told["watched"]["sweeps"] > 20 and told["watched"]["processes"]


def job(vigil, name, *args):
    return vigil.start("run", *args, "--", PYTHON, "-u", WORKLOADS / "speed.py", name, "--for", "100")


def test_a_loss_that_is_no_number_is_read_from_the_job_s_output(vigil):
    job(vigil, "nan_loss")
    wait_for(lambda: list(vigil.state.glob("jobs/*/attempt-0/rank-*.out")), 30, "the job's output")
    wait_for(lambda: b"nan" in vigil.log().read_bytes(), 30, "the loss")
    found = first(vigil, "last", "loss-broken")
    assert "step 10" in " ".join(found["evidence"])


def test_people_are_told_what_was_looked_at(vigil, program, tmp_path):
    p = program("sleeping")
    wait_for((tmp_path / "sleeping").read_text, 60, "the end of its start, which takes a processor")
    result = vigil("doctor", p.pid, "--for", 2)
    assert result.status == 0
    text = " ".join(result.out.decode().split())
    assert "Nothing that I can see holds" in text and "Looked" in text and "Not seen from outside" in text
    assert f"It rested or waited nearly all of the time: 'vigil stack {p.pid}' shows where" in text, text


def put(path, text):
    """As the kernel's files change: never empty."""
    path.with_name("new").write_text(text, encoding="ascii")
    path.with_name("new").rename(path)


def test_what_memory_moves_is_told_where_it_is_counted(vigil, program, tmp_path):
    assert look(vigil, program("compute").pid)["watched"]["memory_traffic"]
    sys = tmp_path / "sys"
    groups = [sys / "fs/resctrl/mon_data", sys / "fs/resctrl/batch/mon_data", sys / "fs/resctrl/mon_groups/a/mon_data"]
    for g in groups:
        (g / "mon_L3_00").mkdir(parents=True)
    (sys / "devices").symlink_to("/sys/devices")
    features = sys / "fs/resctrl/info/L3_MON/mon_features"
    features.parent.mkdir(parents=True)
    features.write_text("llc_occupancy\nmbm_total_bytes\n", encoding="ascii")
    p, begun, ended = program("two_processes"), time.monotonic(), threading.Event()

    def count():
        while not ended.wait(0.02):
            for g in groups:
                put(g / "mon_L3_00/mbm_total_bytes", f"{int((time.monotonic() - begun) * 5e8)}\n")
    counter = threading.Thread(target=count)
    counter.start()
    try:
        wait_for((groups[2] / "mon_L3_00/mbm_total_bytes").exists, 10, "the first count")
        told = vigil("doctor", p.pid, "--for", 3, "--json", timeout=90, env={"VIGIL_SYS_PATH": sys}).json()
        text = vigil("doctor", p.pid, "--for", 1, timeout=90, env={"VIGIL_SYS_PATH": sys}).out.decode()
    finally:
        ended.set()
        counter.join()
    seen = told["watched"]["memory_traffic"]
    assert seen["source"] == "last_level_caches" and not seen["at_least"], seen
    assert 0.8e9 < seen["bytes_per_s"] < 1.2e9, "of two control groups; the monitoring group is in one of them"
    assert "limit_bytes_per_s" not in seen and "memory-bandwidth" not in {f["id"] for f in told["findings"]}
    flat = " ".join(text.split())
    assert "memory bandwidth, " in flat and "could move at most is not known here" in flat, text


def test_a_process_that_ends_meanwhile_is_judged_by_what_was_seen(vigil):
    p = subprocess.Popen([PYTHON, "-c", "import time; e = time.time() + 2\nwhile time.time() < e: pass"])
    result = vigil("doctor", p.pid, "--for", 20, "--json")
    p.wait(30)
    assert result.status in (0, 1)
    assert result.json()["watched"]["seconds"] < 15


def test_ctrl_c_ends_the_watching_and_tells(vigil, program):
    p = program("sleeping")
    begin = time.monotonic()
    doctor = vigil.start("doctor", p.pid, "--for", 60, "--json")
    wait_for(lambda: b"doctor" in open(f"/proc/{doctor.pid}/cmdline", "rb").read() and signal_is_caught(doctor.pid), 20,
             "the doctor to watch")
    os.kill(doctor.pid, signal.SIGINT)
    result = vigil.finish(doctor, 30)
    assert result.status in (0, 1) and result.json()["watched"]["seconds"] < 50
    assert time.monotonic() - begin < 55


def signal_is_caught(pid, number=signal.SIGINT):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        caught = next(line for line in f if line.startswith("SigCgt")).split()[1]
    return int(caught, 16) >> (number - 1) & 1


# Two loaders by their name, as PyTorch sets it.
LOADERS = """
import os, time
for _ in range(2):
    if os.fork() == 0:
        open("/proc/self/comm", "w").write("pt_data_worker")
        while True:
            time.sleep(0.01)
print("begun", flush=True)
time.sleep(60)
"""


@needs_root
def test_the_dev_shm_of_the_job_counts(vigil, begin):
    """A container has one of its own, of 64 MiB most often; vigil looks from outside."""
    job = begin(["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=64m none /dev/shm && exec $0 -c \"$1\"", PYTHON, LOADERS])
    small, = [f for f in look(vigil, job.pid, 1)["findings"] if f["id"] == "shm-small"]
    assert "64.0 MiB in total" in small["evidence"][0]
