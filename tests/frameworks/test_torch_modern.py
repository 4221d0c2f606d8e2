"""Today's PyTorch (not Debian's 1.13): DDP, FSDP, torchrun, DataLoader workers, gloo's time-outs, judged by `vigil why`."""
import pathlib
import subprocess

import pytest

from conftest import VENV

PYTHON = str(VENV / "python")
SCRIPT = str(pathlib.Path(__file__).with_name("torch_modern.py"))
RANKS = 3


@pytest.fixture(scope="module", autouse=True)
def torch_is_new():
    if not (VENV / "python").exists():
        pytest.skip("PyTorch is not installed: .venv-frameworks is not there; tools/setup frameworks makes it")
    found = subprocess.run([PYTHON, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True)
    if found.returncode or found.stdout.startswith("1."):
        pytest.skip(f"a new PyTorch is not installed ({found.stdout}{found.stderr[-200:]}); was PyPI out of reach?")


def hangs(vigil, *command, options=()):
    result = vigil("run", "--hang-after", "6s", "--on-hang", "kill", "--on-hang-needs", "high", *options, "--", *command, timeout=240)
    assert result.status == 124, result
    report = vigil.why()
    assert report["kind"] == "hang", report
    return report


def looks(report):
    return report["cause"]["id"], report["cause"]["confidence"], report["culprit_ranks"]


@pytest.mark.parametrize("how, what, cause, says", [
    ("ddp", "stopped", "rank_stopped", "is stopped (state T: SIGSTOP)"),
    ("fsdp", "stopped", "rank_stopped", "is stopped (state T: SIGSTOP)"),
    ("hand", "missing", "missing_rank", "Ranks 0 and 1 wait for the others: TCPStore at torch_modern.py:"),
    ("ddp", "loader", "loader_stuck", "in Numbers.__getitem__; stopped by a signal"),
])
def test_the_rank_and_the_cause_are_named(vigil, how, what, cause, says):
    report = hangs(vigil, PYTHON, "-u", SCRIPT, how, what, "--culprit", 2, options=("--nproc", RANKS))
    assert looks(report) == (cause, "high", [2]), report
    assert says in report["cause"]["text"], report
    assert {s.get("rank") for s in report["stacks"]} >= set(range(RANKS)), "the stacks of all ranks"


def test_the_ranks_of_torchrun_have_their_numbers(vigil):
    report = hangs(vigil, PYTHON, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={RANKS}", SCRIPT,
                   "ddp", "stopped", "--culprit", 1)
    assert looks(report) == ("rank_stopped", "high", [1]), report


def test_a_rank_that_raises_beside_ranks_in_a_collective_is_named(vigil):
    result = vigil("run", "--nproc", RANKS, "--", PYTHON, "-u", SCRIPT, "fsdp", "raises", "--culprit", 2, timeout=120)
    assert result.status == 1, result
    report = vigil.why()
    assert (report["kind"], report["cause"]["id"], report["victim"]["rank"]) == ("error_exit", "python_exception", 2), report
    assert "RuntimeError: a bad batch" in report["summary"], report


def test_a_time_out_of_gloo_s_own_does_not_hide_the_rank_it_waited_for(vigil):
    result = vigil("run", "--hang-after", "6s", "--nproc", RANKS, "--", PYTHON, "-u", SCRIPT, "ddp", "stopped", "--culprit", 2,
                   "--timeout", 40, timeout=180)
    assert result.status not in (0, 124, 125), result
    report = vigil.why()
    assert "rank 2 held up the others (rank_stopped)" in report["summary"], report


@pytest.mark.parametrize("how", ["ddp", "fsdp"])
def test_a_healthy_job_is_left_alone(vigil, how):
    result = vigil("run", "--hang-after", "6s", "--on-hang", "kill", "--on-hang-needs", "high", "--nproc", 2, "--",
                   PYTHON, "-u", SCRIPT, how, "none", "--steps", 300, timeout=180)
    assert result.status == 0, result
    assert b"standing still" not in result.err, result
