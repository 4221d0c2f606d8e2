"""A torch DataLoader job under `vigil run`."""
import pathlib
import sys

import pytest

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
