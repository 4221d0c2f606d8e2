"""What the page is told of the single processes of a job without ranks: memory over time, and who they were, also after the end."""
import signal
import sys
import time

import pytest

from conftest import wait_for
from test_timeline import Trace
from webkit import Server, Stream, check, run_job

A = "/api/v1/jobs/{job}"
MIB = 1 << 20

LOADERS = """
import os, sys, time
def held(mib):
    block = bytearray(mib << 20)
    block[::4096] = b"1" * len(block[::4096])
    return block
def work(mib, seconds):
    kept = held(mib)
    time.sleep(seconds)
    os._exit(0)
seconds = float(sys.argv[1])
for mib in (120, 90, 1, 1, 1):
    if os.fork() == 0:
        work(mib, seconds)
kept = held(150)
for i in range(5):
    os.wait()
time.sleep(1.5)
"""

SHORT = """
import mmap, os
for i in range(700):
    if os.fork() == 0:
        block = mmap.mmap(-1, 24 << 20)
        block.madvise(mmap.MADV_HUGEPAGE)
        for at in range(0, 24 << 20, 4096):
            block[at] = 1
        os._exit(0)
    if i % 8 == 7:
        for k in range(8):
            os.wait()
"""


def others(memory):
    """What the lane without a rank has beside the processes that have lanes of their own."""
    [all_] = [s["own"] for s in memory["series"]]
    return [(a or 0) - sum(p["own"][i] or 0 for p in memory["processes"]) for i, a in enumerate(all_)]


def lanes_are_told(memory):
    sizes = sorted(max(v or 0 for v in p["own"]) // MIB for p in memory["processes"])
    assert len(sizes) == 3 and 90 <= sizes[0] < 110 and 120 <= sizes[1] < 140 and 150 <= sizes[2] < 175, sizes
    assert sorted(p["role"] for p in memory["processes"]) == ["main", "worker", "worker"], memory["processes"]
    assert all(p["name"].startswith("python") and p["pid"] > 0 for p in memory["processes"])
    assert all(0 <= v < 60 * MIB for v in others(memory)[-3:]), others(memory)


def test_each_large_process_of_a_job_without_ranks_has_a_lane(vigil, tmp_path):
    program = tmp_path / "loads.py"
    program.write_text(LOADERS)
    job = run_job(vigil, sys.executable, str(program), "8")
    server = Server(vigil)
    B = "/api/v1/jobs/last"

    def told():
        memory = server.get(f"{B}/memory").json()
        sizes = sorted(max(v or 0 for v in p["own"]) for p in memory.get("processes", []))
        return memory if len(sizes) == 3 and all(n >= m * MIB for n, m in zip(sizes, (90, 120, 150))) else None
    lanes_are_told(wait_for(told, 30, "three large processes to be seen"))
    s = Stream(server, f"?job={server.get(B).json()['id']}&topics=memory")
    point = s.next("memory", lambda p: len(p.get("processes", [])) == 3)
    assert all(p["own"] > 80 * MIB and p["role"] and p["name"].startswith("python") for p in point["processes"])
    s.close()
    assert job.wait(30) == 0
    memory = check(server.get(f"{B}/memory"), A + "/memory").json()
    lanes_are_told(memory)
    at = memory["times"][len(memory["times"]) // 2]
    then = check(server.get(f"{B}/at?time={at}"), A + "/at").json()
    assert [p["own_bytes"] // MIB // 10 for p in sorted(then["memory"]["processes"], key=lambda p: -p["own_bytes"])] in (
        [15, 12, 9], [16, 12, 9], [16, 13, 9], [16, 13, 10], [15, 12, 10]), then
    trace = Trace(vigil("timeline", "last").out)
    drawn = {e["name"] for e in trace.all["traceEvents"] if e["ph"] == "C" and e["name"].startswith("own bytes of ")}
    assert len(drawn) == 3, drawn


def test_the_workers_of_an_ended_job_are_listed_as_ended(vigil, tmp_path):
    program = tmp_path / "loads.py"
    program.write_text(LOADERS)
    assert vigil("run", "--", sys.executable, str(program), "4").status == 0
    server = Server(vigil)
    told = check(server.get("/api/v1/jobs/last/processes?all=1"), A + "/processes").json()
    workers = [p for p in told["processes"] if p["role"] == "worker"]
    assert len(workers) == 5 and not any(p["running"] for p in told["processes"]), told
    assert all(p["started_unix_ms"] < p["ended_unix_ms"] for p in workers), workers
    assert sorted(p.get("peak_own_bytes", 0) // MIB // 10 for p in workers)[-2:] in ([9, 12], [10, 12], [10, 13], [9, 13])
    assert "left_out" not in told
    assert [p["role"] for p in server.get("/api/v1/jobs/last/processes").json()["processes"]] == ["main"]


def test_hundreds_of_large_processes_have_few_lanes(vigil, tmp_path):
    program = tmp_path / "short.py"
    program.write_text(SHORT)
    assert vigil("run", "--", sys.executable, str(program), timeout=180).status == 0
    server = Server(vigil)
    memory = check(server.get("/api/v1/jobs/last/memory"), A + "/memory").json()
    assert len(memory["processes"]) <= 16
    began = time.monotonic()
    told = check(server.get("/api/v1/jobs/last/processes?all=1"), A + "/processes").json()
    assert len(told["processes"]) <= 501 and time.monotonic() - began < 1, len(told["processes"])
    series = next(vigil.state.glob("jobs/*/series"))
    assert series.stat().st_size < 1 << 20


def test_a_job_that_its_user_stopped_has_not_died_by_itself(vigil):
    job = run_job(vigil, sys.executable, "-c", "import time; print('step 1/9', flush=True); time.sleep(600)")
    server = Server(vigil)
    wait_for(lambda: server.get("/api/v1/jobs/last").json().get("steps"), 30, "its step")
    job.send_signal(signal.SIGINT)
    job.wait(30)
    health = check(server.get("/api/v1/jobs/last"), A).json()["health"]
    assert health["level"] == "died" and health["stopped"] is True and "you asked" in health["sentence"], health
    assert vigil("run", "--", sys.executable, "-c", "import os; os.kill(os.getpid(), 15)").status == 143
    assert "stopped" not in server.get("/api/v1/jobs/last").json()["health"]


def test_the_line_above_which_vigil_acts_is_told_with_the_limit(vigil):
    p = vigil.start("run", "--memory-limit", "400M", "--memory-threshold", "0.9", "--", "sleep", "60")
    wait_for(lambda: list(vigil.state.glob("jobs/*/series")), what="the first sample")
    server = Server(vigil)
    memory = check(server.get("/api/v1/jobs/last/memory"), A + "/memory").json()
    assert memory["limit_bytes"] == 400 << 20
    assert memory["threshold_bytes"] == int((400 << 20) * 0.9)
    p.terminate()
    p.wait(20)


GROWS = """
import os, subprocess, sys, time
if "RANK" not in os.environ and RANKS:
    more = [subprocess.Popen([sys.executable, "-c", sys.argv[1], sys.argv[1]], env=dict(os.environ, RANK=str(r), WORLD_SIZE="2"))
            for r in range(RANKS)]
    sys.exit(max(abs(p.wait()) for p in more))
keep = []
while True:
    keep.append(bytearray(b"x" * ((4 if os.environ.get("RANK", "0") == "0" else 1) << 20)))
    time.sleep(0.05)
"""


@pytest.mark.parametrize("ranks", [0, 2])
def test_the_picture_of_memory_has_the_peak_at_which_a_process_was_ended(vigil, ranks):
    """Between two looks of the sampler, and where nothing follows: what the guard saw at the kill."""
    program = GROWS.replace("RANKS", str(ranks))
    assert vigil("run", "--memory-limit", "200M", "--", sys.executable, "-c", program, program).status != 0
    server = Server(vigil)
    memory = check(server.get("/api/v1/jobs/last/memory?points=2000"), A + "/memory").json()
    kill = server.get("/api/v1/jobs/last/incidents").json()["incidents"][-1]
    report = server.get(f"/api/v1/incidents/{kill['id']}").json()
    at = memory["times"].index(report["time_unix_ms"])
    own = [sum(s["own"][i] or 0 for s in memory["series"]) for i in range(len(memory["times"]))]
    assert memory["job_bytes"][at] == report["memory"]["used_bytes"]
    assert own[at] >= report["victim"]["own_bytes"] > 0 and own[at] == max(own[at - 1:at + 2]), own
    assert own[at + 1] <= own[at] - report["victim"]["own_bytes"] and memory["times"][at + 1] - memory["times"][at] < 1000
    if not ranks:
        assert max(p["own"][at] or 0 for p in memory["processes"]) == report["victim"]["own_bytes"]
    seen = check(server.get("/api/v1/jobs/last/ranks"), "/api/v1/jobs/{job}/ranks").json()["ranks"]
    assert [(r["ended_for"], r["signal"]) for r in seen] == [("memory", 9)] * max(1, ranks), seen
    all_ = server.get("/api/v1/jobs/last/processes?all=1").json()["processes"]
    assert all(p["own_bytes"] > 0 and p["ended_unix_ms"] > p["started_unix_ms"] > 0 for p in all_ if p.get("ended_for") == "memory"), all_
    told = kill_in_timeline(vigil, report)
    assert (report["time_unix_ms"], report["memory"]["used_bytes"]) in told["job"], told
    assert any(at == report["time_unix_ms"] and own >= report["victim"]["own_bytes"] for at, own in told["own"]), told


def kill_in_timeline(vigil, report):
    """What counters of memory say in the second around a kill, with unix times."""
    trace = vigil("timeline", "last", "-o", "-").json()
    began = trace["otherData"]["started_unix_ms"]
    found = {"job": [], "own": []}
    for e in trace["traceEvents"]:
        if e["ph"] == "C" and e["name"] == "memory bytes" and abs((at := began + e["ts"] // 1000) - report["time_unix_ms"]) < 1000:
            for key in found:
                found[key] += [(at, e["args"][key])] if key in e["args"] else []
    return found


@pytest.mark.parametrize("ranks", [0, 2])
def test_the_picture_of_memory_has_the_peak_at_which_the_kernel_ended_a_process(vigil, small_machine, ranks):
    program = GROWS.replace("RANKS", str(ranks))
    vigil("run", "--memory-threshold", "0", "--", sys.executable, "-c", program, program, box=small_machine(160))
    report = vigil.why()
    assert report["kind"] == "cgroup_oom", report
    if "own_bytes" not in report["victim"]:
        pytest.skip("the kernel's log may not be read")
    [died] = [e["time_unix_ms"] for e in report["evidence"] if e["kind"] == "kmsg" and "Killed process" in e["text"]]
    memory = check(Server(vigil).get("/api/v1/jobs/last/memory?points=2000"), A + "/memory").json()
    at = memory["times"].index(died)
    own = [sum(s["own"][i] or 0 for s in memory["series"]) for i in range(len(memory["times"]))]
    # a neighbour may have given a few pages back since the look before
    assert own[at] >= max(report["victim"]["own_bytes"], max(own) - MIB), (own, report["victim"])
    assert own[at + 1] <= own[at] - report["victim"]["own_bytes"] and memory["times"][at + 1] - died < 1000
    assert any(at == died and value >= report["victim"]["own_bytes"] for at, value in kill_in_timeline(vigil, report)["own"])
