"""Today's PyTorch (not Debian's 1.13): DDP, FSDP, torchrun, DataLoader workers, gloo's time-outs, judged by `vigil why`."""
import json
import pathlib
import subprocess

import pytest

from conftest import VENV, wait_for

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


def events(vigil, kind):
    lines = vigil("events", "--json").out.decode().splitlines()
    return [e for e in map(json.loads, lines) if e["kind"] == kind]


def looks(report):
    return report["cause"]["id"], report["cause"]["confidence"], report["culprit_ranks"]


@pytest.mark.parametrize("how, what, cause, says", [
    ("ddp", "stopped", "rank_stopped", "is stopped (state T: SIGSTOP)"),
    ("fsdp", "stopped", "rank_stopped", "is stopped (state T: SIGSTOP)"),
    ("hand", "missing", "orphaned_wait", "→ rank 2 (Event.wait at torch_modern.py:"),
    ("ddp", "lock", "orphaned_wait", "Ranks 0, 1 → rank 2 (Event.wait at torch_modern.py:"),
    ("hand", "group", "mismatched_collective", "rank 2 in all_reduce at torch_modern.py:"),
    ("ddp", "loader", "loader_stuck", "in Numbers.__getitem__; stopped by a signal"),
])
def test_the_rank_and_the_cause_are_named(vigil, how, what, cause, says):
    report = hangs(vigil, PYTHON, "-u", SCRIPT, how, what, "--culprit", 2, options=("--nproc", RANKS))
    assert looks(report) == (cause, "high", [2]), report
    assert says in report["cause"]["text"], report
    assert {s.get("rank") for s in report["stacks"]} >= set(range(RANKS)), "the stacks of all ranks"


def test_a_send_and_a_receive_that_do_not_match_name_both_ranks(vigil):
    result = vigil("run", "--hang-after", "6s", "--on-hang", "kill", "--on-hang-needs", "medium", "--nproc", 4, "--",
                   PYTHON, "-u", SCRIPT, "hand", "tags", "--culprit", 1, timeout=240)
    assert result.status == 124, result
    report = vigil.why()
    assert looks(report) == ("p2p_wait", "medium", [1, 2]), report
    assert "rank 1 (send at torch_modern.py:" in report["cause"]["text"], report


def test_of_a_sender_past_a_receiver_both_ends_are_told(vigil):
    vigil.start("run", "--hang-after", "6s", "--nproc", RANKS, "--", PYTHON, "-u", SCRIPT, "hand", "past", "--culprit", 2)
    found = wait_for(lambda: events(vigil, "hang"), 90)
    report = vigil.why()
    assert found and looks(report) == ("p2p_wait", "medium", [0, 2]), report
    assert "rank 2 in recv at torch_modern.py:" in report["cause"]["text"], report


def test_of_ranks_in_three_calls_the_two_that_do_not_match_are_told(vigil):
    job = vigil.start("run", "--hang-after", "6s", "--nproc", RANKS, "--", PYTHON, "-u", SCRIPT, "hand", "parts", "--culprit", 0)
    found = wait_for(lambda: events(vigil, "hang"), 90)
    report = vigil.why()
    assert found and looks(report) == ("p2p_wait", "medium", [0, 1]), report
    assert "rank 0 in send at torch_modern.py:" in report["cause"]["text"], report
    assert "It waits for rank 1, which is in barrier at torch_modern.py:" in report["cause"]["text"], report
    graph = vigil("waits", job.pid).out.decode()
    assert "send at torch_modern.py:" in graph and "barrier at torch_modern.py:" in graph, graph
    assert "all_reduce at torch_modern.py:" in graph, graph


@pytest.mark.parametrize("how, quality, call", [("hand", "likely", "all_reduce"), ("ddp", "possible", "backward()")])
def test_the_graph_of_waits_leads_to_the_rank_that_has_not_come(vigil, how, quality, call):
    job = vigil.start("run", "--nproc", RANKS, "--", PYTHON, "-u", SCRIPT, how, "asleep", "--culprit", 1)
    while b"step 19/" not in job.stdout.readline():
        assert job.poll() is None

    def leads():
        graph = json.loads(vigil("waits", job.pid, "--json").out)
        rank = {p["pid"]: p.get("rank") for p in graph["processes"]}
        arrows = {(rank[p["pid"]], rank.get(a["to"].get("pid"))): a
                  for p in graph["processes"] for a in p["threads"][0]["arrows"]}
        return arrows if {(0, 1), (2, 1)} <= set(arrows) else None
    arrows = wait_for(leads, 60)
    assert arrows[0, 1]["kind"] == "collective" and arrows[0, 1]["source"] == "hint", arrows
    assert arrows[0, 1]["quality"] == quality and call in arrows[0, 1]["text"], arrows
    told = wait_for(lambda: vigil("waits", "last", "--json", "--seconds", 0).json().get("health"), 90)
    assert told["level"] == "hung" and told["culprit_ranks"] == [1], told
    assert "Told by vigil" in vigil("waits", "last").out.decode()


def sleeper(vigil, *command, options=()):
    """The report of a rank that sleeps for a day, with the times that are usual."""
    result = vigil("run", "--on-hang", "kill", "--on-hang-needs", "high", *options, "--", *command, timeout=240)
    assert result.status == 124, result
    report = vigil.why()
    assert looks(report)[:2] == ("rank_sleeps", "high"), report
    assert f"Rank {report['culprit_ranks'][0]} sleeps: time.sleep(" in report["cause"]["text"], report
    assert "27 h 4" in report["cause"]["text"], report
    return report


@pytest.mark.parametrize("how, culprit", [("ddp", 2), ("ddp", 0), ("hand", 1), ("fsdp", 1)])
def test_a_rank_that_sleeps_for_a_day_is_told_within_45_s(vigil, how, culprit):
    report = sleeper(vigil, PYTHON, "-u", SCRIPT, how, "asleep", "--culprit", culprit, "--at-step", 100,
                     options=("--nproc", RANKS))
    assert report["culprit_ranks"] == [culprit], report
    assert "wait for the others: " in report["cause"]["text"], report
    assert report["hang"]["standstill_ms"] <= 45_000, report


@pytest.mark.parametrize("torchrun", [False, True])
def test_a_rank_that_sleeps_instead_of_coming_is_told_with_the_key_that_is_missing(vigil, torchrun):
    job = [SCRIPT, "ddp", "late", "--culprit", 1]
    launcher = [PYTHON, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={RANKS}"]
    command, options = ([*launcher, *job], ()) if torchrun else ([PYTHON, "-u", *job], ("--nproc", RANKS))
    report = sleeper(vigil, *command, options=options)
    assert report["culprit_ranks"] == [1], report
    assert 'wait for key "/default_pg/0//' in report["cause"]["text"].replace("waits", "wait"), report
    assert report["hang"]["standstill_ms"] <= 60_000, report


def test_the_key_of_the_store_that_ranks_wait_for_is_told(vigil):
    report = sleeper(vigil, PYTHON, "-u", SCRIPT, "ddp", "key", "--culprit", 1, "--at-step", 100, options=("--nproc", RANKS))
    assert report["culprit_ranks"] == [1], report
    assert 'Ranks 0 and 2 wait for key "/default_pg/0//shard/1" of the store.' in report["cause"]["text"], report


def test_a_store_that_is_asked_all_the_time_is_no_recovery(vigil):
    """Rank 0 asks its own store every 10 ms whether all have come; the store gives up after 75 s."""
    result = vigil("run", "--hang-after", "6s", "--nproc", RANKS, "--", PYTHON, "-u", SCRIPT, "hand", "missing", "--culprit", 2,
                   "--timeout", 75, timeout=240)
    assert result.status not in (0, 124, 125), result
    assert len(events(vigil, "hang")) == 1 and not events(vigil, "hang_resolved"), result


@pytest.mark.parametrize("what, pause", [("nap", 20), ("nap", 30), ("evaluates", 30), ("saves", 30), ("downloads", 30),
                                         ("compiles", 30), ("late", 40), ("key", 30)])
def test_ranks_that_hold_up_the_others_for_a_while_are_left_alone(vigil, what, pause):
    result = vigil("run", "--on-hang", "kill", "--on-hang-needs", "high", "--nproc", RANKS, "--", PYTHON, "-u", SCRIPT, "ddp",
                   what, "--culprit", 1, "--at-step", 100, "--pause", pause, "--steps", 150, timeout=240)
    assert result.status == 0, result
    assert b"standing still" not in result.err and not events(vigil, "hang"), result


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
