"""Jobs of torch.distributed on gloo that hang, judged by `vigil why`."""
import pathlib
import sys

import pytest

HANG = [sys.executable, "-u", str(pathlib.Path(__file__).with_name("torch_hang.py"))]
RANKS = 3


@pytest.fixture(autouse=True)
def torch_is_there():
    pytest.importorskip("torch", reason="python3-torch is not installed; tools/setup frameworks does it")


def hangs(vigil, what, *args):
    result = vigil("run", "--hang-after", "6s", "--on-hang", "kill", "--nproc", RANKS, "--", *HANG, what, *args, timeout=180)
    assert result.status == 124, result
    report = vigil.why()
    assert report["kind"] == "hang", report
    assert {s["rank"] for s in report["stacks"]} >= set(range(RANKS)) - set(report["culprit_ranks"])
    return report


# A group of gloo that meets in different collectives blames nobody when each one waits for another.
@pytest.mark.parametrize("what, causes", [
    ("missing", {"missing_rank", "rendezvous", "rank_not_started"}),
    ("loader", {"loader_stuck"}),
    ("exception", {"one_rank_failed"}),
])
def test_the_rank_and_the_cause_are_named(vigil, what, causes):
    report = hangs(vigil, what, "--culprit", 2)
    assert report["cause"]["id"] in causes, report
    assert report["culprit_ranks"] == [2], report


def test_ranks_in_different_collectives_are_told_apart(vigil):
    report = hangs(vigil, "mismatch", "--culprit", 2)
    assert report["cause"]["id"] in {"mismatched_collective", "missing_rank"}, report
    if report["cause"]["confidence"] == "high":
        assert report["culprit_ranks"] == [2], report


def test_a_rank_with_less_data_waits_at_the_end(vigil):
    report = hangs(vigil, "uneven", "--culprit", 2)
    assert report["cause"]["id"] in {"mismatched_collective", "uneven_last_epoch", "missing_rank"}, report


def test_the_error_file_that_pytorch_writes_names_the_first_of_a_cascade(vigil):
    result = vigil("run", "--nproc", RANKS, "--", *HANG, "error", "--culprit", 2, timeout=120)
    assert result.status not in (0, 125), result
    report = vigil.why()
    shown = [e for e in report["evidence"] if e["kind"] == "error_file"]
    assert shown[0]["source"] == "rank-2.error.json" and "a bad batch" in shown[0]["text"], report
    assert report["victim"]["rank"] == 2 or report["culprit_ranks"] == [2], report


@pytest.mark.parametrize("seconds", [12, 20])
def test_a_time_out_of_gloo_s_own_ends_the_ranks_and_the_rank_it_waited_for_is_named(vigil, seconds):
    """With its own times vigil would judge later than that."""
    result = vigil("run", "--nproc", RANKS, "--", *HANG, "loader", "--culprit", 2, "--timeout", seconds, timeout=180)
    assert result.status not in (0, 124, 125), result
    report = vigil.why()
    assert report["kind"] in {"error_exit", "crash", "peer_lost"}, report
    assert report["cause"]["id"] == "loader_stuck" and report["culprit_ranks"] == [2], report
    assert {s["rank"] for s in report["stacks"]} == set(range(RANKS)), report


def test_a_healthy_job_is_left_alone(vigil):
    result = vigil("run", "--hang-after", "6s", "--on-hang", "kill", "--nproc", 2, "--", *HANG, "none", "--steps", 100, timeout=180)
    assert result.status == 0, result
