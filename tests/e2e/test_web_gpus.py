"""GPUs in the page's routes: over time, of each rank, and on the node. The driver is the fake of tests/fake."""
import pathlib
import sys

from conftest import wait_for
from gpukit import fake  # noqa: F401
from webkit import Server, check, run_job

SPINS = "import time\nfor i in range(10**9):\n    print(f'step {i}', flush=True); time.sleep(0.05)"
JOB = "/api/v1/jobs/{job}"
TOTAL = 80 * 2**30


def first_job(server):
    return wait_for(lambda: server.get("/api/v1/jobs").json()["jobs"], 30, "the job")[0]["id"]


def tell(fake, busy, pids=()):
    fake(*(f"device {i} {key} {value}" for i in range(2) for key, value in
           (("name", "NVIDIA H100"), ("uuid", f"GPU-{i}"), ("busy", busy[i]), ("memory_busy", 50), ("temperature", 40),
            ("memory_total", TOTAL), ("memory_used", (i + 1) * TOTAL // 4))),
         *(f"process {i} compute {pid} 1000000" for i, pid in enumerate(pids)))


def test_gpus_of_ranks_are_told_now_and_over_time_and_after_the_end(vigil, fake):
    tell(fake, (10, 20))
    p = vigil.start("run", "--nproc", "2", "--", sys.executable, "-c", SPINS, env=fake.env)
    wait_for(lambda: (vigil.state / "vigil.db").exists(), 20, "the store")
    server = Server(vigil, env=fake.env)
    id = first_job(server)

    def pids():
        ranks = server.get(f"/api/v1/jobs/{id}/ranks").json()["ranks"]
        return [r["pid"] for r in ranks] if len(ranks) == 2 else None
    tell(fake, (70, 90), wait_for(pids, 30, "two ranks"))

    def on_gpus():
        ranks = check(server.get(f"/api/v1/jobs/{id}/ranks"), JOB + "/ranks").json()["ranks"]
        return ranks if all(r.get("gpu") for r in ranks) else None
    ranks = wait_for(on_gpus, 60, "the ranks' GPUs to be looked at")
    assert [[g["index"] for g in r["gpu"]] for r in ranks] == [[0], [1]]
    assert [r["gpu"][0]["busy_ratio"] for r in ranks] == [0.7, 0.9]
    assert [r["gpu"][0]["memory_bytes"] for r in ranks] == [TOTAL // 4, TOTAL // 2]
    assert [r["gpu"][0]["used_ratio"] for r in ranks] == [0.25, 0.5]

    def series():
        return check(server.get(f"/api/v1/jobs/{id}/series?what=gpu"), JOB + "/series").json()
    told = wait_for(lambda: (s := series())["series"] and s, 30, "the GPUs' series")
    assert {(s["gpu"], s["rank"], s["label"], s["unit"]) for s in told["series"]} == {
        (0, 0, "GPU 0 busy", "ratio"), (0, 0, "GPU 0 memory", "ratio"), (1, 1, "GPU 1 busy", "ratio"), (1, 1, "GPU 1 memory", "ratio")}
    assert all(len(s["values"]) == len(told["times"]) > 0 for s in told["series"]) and "note" not in told
    assert [s["values"][-1] for s in told["series"]] == [0.7, 0.9, 0.25, 0.5]
    node = check(server.get("/api/v1/node"), "/api/v1/node").json()
    assert [(g["index"], g["memory_total_bytes"]) for g in node["gpus"]] == [(0, TOTAL), (1, TOTAL)]
    p.terminate()
    p.wait(30)
    assert series()["series"], "what was recorded stays"


def test_a_job_without_gpus_says_so(vigil):
    run_job(vigil, sys.executable, "-c", SPINS)
    server = Server(vigil)
    id = first_job(server)
    told = check(server.get(f"/api/v1/jobs/{id}/series?what=gpu"), JOB + "/series").json()
    assert told["series"] == [] and told["times"] == [] and "no GPU of this job" in told["note"]


def test_the_node_has_its_pressure_and_is_no_head_by_itself(vigil):
    node = check(Server(vigil).get("/api/v1/node"), "/api/v1/node").json()
    measured = [k for k in ("cpu", "memory", "io") if readable(f"/proc/pressure/{k}")]
    assert [p["kind"] for p in node["pressure"]] == measured
    assert all(0 <= p["some_ratio"] <= 1 and 0 <= p.get("full_ratio", 0) <= 1 for p in node["pressure"])
    assert node["head"] is False and "head_of" not in node


def readable(path):
    try:
        return bool(pathlib.Path(path).read_text())
    except OSError:
        return False


def test_the_node_of_rank_0_is_the_head_of_a_job_with_ranks_elsewhere(vigil):
    p = vigil.start("run", "--", sys.executable, "-c", SPINS,
                    env={"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "16", "LOCAL_WORLD_SIZE": "1"})
    wait_for(lambda: (vigil.state / "vigil.db").exists(), 20, "the store")
    server = Server(vigil)
    id = first_job(server)
    node = wait_for(lambda: (n := server.get("/api/v1/node").json())["head"] and n, 60, "the node to be a head")
    assert node["head_of"] == f"job {id}"
    p.terminate()
    p.wait(30)


def test_devices_are_of_the_whole_node(vigil):
    result = vigil("mem", "--devices", "4711")
    assert result.status == 2 and b"vigil gpus 4711" in result.err
