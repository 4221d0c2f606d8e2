"""Jobs of torch.distributed on gloo that hang, judged by `vigil why`."""
import pathlib
import sys

import pytest

HANG = [sys.executable, "-u", str(pathlib.Path(__file__).with_name("torch_hang.py"))]
RANKS = 3
SIZES = (2, 8)


@pytest.fixture(autouse=True)
def torch_is_there():
    pytest.importorskip("torch", reason="python3-torch is not installed; tools/setup frameworks does it")


def hangs(vigil, ranks, what, culprit, spawned=False):
    started = ("--", *HANG, "--spawn", ranks) if spawned else ("--nproc", ranks, "--", *HANG)
    result = vigil("run", "--hang-after", "6s", "--on-hang", "kill", *started, what, "--culprit", culprit, timeout=240)
    assert result.status == 124, result
    report = vigil.why()
    assert {s.get("rank") for s in report["stacks"]} >= set(range(ranks)), "the stacks of all ranks"
    assert sum(g["count"] for g in report["hang"]["groups"]) == ranks
    return report


def looks(report):
    return report["kind"], report["cause"]["id"], report["cause"]["confidence"], report["culprit_ranks"]


@pytest.mark.parametrize("ranks", SIZES)
@pytest.mark.parametrize("what, cause, confidence, says", [
    ("missing", "orphaned_wait", "high", '(Event.wait at torch_hang.py:'),
    ("loader", "loader_stuck", "high", "in Numbers.__getitem__"),
    ("exception", "one_rank_failed", "medium", "RuntimeError: a bad batch"),
    ("uneven", "uneven_last_epoch", "medium", "has come to the end of its epoch"),
])
def test_the_rank_and_the_cause_are_named(vigil, what, cause, confidence, says, ranks):
    culprit = ranks // 2 + 1 if ranks > 2 else 1
    report = hangs(vigil, ranks, what, culprit)
    assert looks(report) == ("hang", cause, confidence, [culprit]), report
    assert says in report["cause"]["text"], report


@pytest.mark.parametrize("what, cause", [("missing", "orphaned_wait"), ("loader", "loader_stuck"), ("mismatch", "mismatched_collective")])
def test_ranks_of_torch_s_spawn_have_their_numbers(vigil, what, cause):
    """Nothing outside of their memory says them."""
    report = hangs(vigil, 4, what, 2, spawned=True)
    assert (report["kind"], report["cause"]["id"], report["culprit_ranks"]) == ("hang", cause, [2]), report


def test_of_many_ranks_the_one_in_another_collective_is_named(vigil):
    report = hangs(vigil, 8, "mismatch", 5)
    assert looks(report) == ("hang", "mismatched_collective", "high", [5]), report


def test_of_two_ranks_in_different_collectives_neither_is_called_wrong(vigil):
    report = hangs(vigil, 2, "mismatch", 1)
    assert looks(report) == ("hang", "mismatched_collective", "medium", [0, 1]), report
    assert "which of them is wrong cannot be told" in report["cause"]["text"]


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
