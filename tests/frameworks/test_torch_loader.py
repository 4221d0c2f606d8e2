"""A torch DataLoader job under `vigil run`."""
import os
import pathlib
import re
import sys
import time

import psutil
import pytest

from conftest import wait_for

TRAIN = [sys.executable, "-u", str(pathlib.Path(__file__).with_name("torch_train.py"))]


@pytest.fixture(autouse=True)
def torch_is_there():
    pytest.importorskip("torch", reason="python3-torch is not installed; tools/setup frameworks does it")


def test_a_healthy_torch_job_is_left_alone(vigil, tmp_path):
    result = vigil("run", "--memory-limit", "4G", "--", *TRAIN, tmp_path, timeout=180)
    assert result.status == 0, result
    assert b"trained" in result.out
    assert (tmp_path / "model.pt").stat().st_size > 0


def test_a_leaking_data_set_is_ended_and_the_retry_finishes(vigil, tmp_path):
    result = vigil("run", "--memory-limit", "1500M", "--retries", "1", "--backoff", "10ms", "--",
                   *TRAIN, tmp_path, "--leak-mib-per-sample", 4, timeout=240)
    assert result.status == 0, result
    assert result.out.count(b"step 0 ") == 2 and b"trained" in result.out
    report = vigil.why()
    assert (report["kind"], report["killer"]) == ("memory_kill", "vigil")
    # The list is of the whole machine, on which others may hold more.
    own = [p["own_bytes"] for p in report["top"] if str(tmp_path) in p["command"]]
    assert own and max(own) > 500 << 20, report["top"]


def watches_signals(pid):
    """Within 5 s of its start a vigil that may has a BPF program's link among its files."""
    end = time.monotonic() + 5
    while time.monotonic() < end:
        if any("bpf" in os.readlink(f) for f in pathlib.Path(f"/proc/{pid}/fd").iterdir() if f.is_symlink()):
            return True
        time.sleep(0.05)
    return False


def test_who_ended_a_loader_worker_is_named(vigil, tmp_path):
    """PyTorch says which worker died, or that its connection broke, the kernel who sent the signal: together they make the verdict."""
    job = vigil.start("run", "--", *TRAIN, tmp_path, "--steps", 100000)
    while b"step 0 " not in job.stdout.readline():
        assert job.poll() is None
    if not watches_signals(job.pid):
        pytest.skip("the kernel does not tell us who sends signals (it takes BPF, with CAP_BPF and CAP_PERFMON)")
    (main,) = [p for p in psutil.Process(job.pid).children() if p.name().startswith("python")]
    worker = wait_for(lambda: next(iter(main.children()), None))
    worker.kill()
    result = vigil.finish(job, 60)
    assert result.status == 1, result
    report = vigil.why()
    # the worker's own end, or, where that was not seen, that of its parent after it
    assert report["kind"] == "killed_by" and report["cause"]["id"] in ("signal_sent", "worker_signal_sent"), report["summary"]
    ended = rf"\(pid {worker.pid}\)(, a worker of .*,)? (was|had been) ended by SIGKILL"
    assert re.search(ended, report["summary"]) and f"pid {os.getpid()}" in report["summary"], report["summary"]
