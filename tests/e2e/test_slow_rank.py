"""A rank whose own steps become slow, while nobody waits for it: it is named where something holds it up, as long as that lasts."""
import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from conftest import wait_for
from hangkit import events

# Each step of rank 1 takes the token first, which somebody else puts there.
LOOP = """
import os, sys, time
slow, step = int(os.environ["RANK"]) == 1, 0
token = os.open(sys.argv[1], os.O_RDWR) if slow else -1
while step < 100000:
    if slow:
        os.read(token, 1)
    time.sleep(1.2 if slow and os.path.exists(sys.argv[2]) else 0.15 if slow else 0.3)
    step += 1
    print(f"step {step}/100000 loss 0.5", flush=True)
"""
GIVES = """
import os, sys, time
token = os.open(sys.argv[1], os.O_WRONLY)
while True:
    time.sleep(1.2 if os.path.exists(sys.argv[2]) else 0.3)
    os.write(token, b".")
"""


@pytest.fixture
def ranks(vigil, tmp_path):
    """ranks(by_itself): three of them; what makes rank 1 slow is there once it is touched."""
    token, slow = tmp_path / "token", tmp_path / "slow"
    os.mkfifo(token)
    started = []

    def start(by_itself):
        p = vigil.start("run", "--nproc", 3, "--", sys.executable, "-c", LOOP, token, slow if by_itself else tmp_path / "never")
        started.append(subprocess.Popen([sys.executable, "-c", GIVES, token, tmp_path / "never" if by_itself else slow]))
        time.sleep(20)  # of steps as usual
        slow.touch()
        return p, slow
    yield start
    for g in started:
        g.send_signal(signal.SIGKILL)
        g.wait()


@pytest.mark.slow
def test_a_rank_that_is_held_up_is_named_while_it_lasts(vigil, ranks):
    p, slow = ranks(by_itself=False)
    began = time.monotonic()
    wait_for(lambda: events(vigil, "straggler") or p.poll() is not None, 60, "the slow rank")
    took = time.monotonic() - began
    assert p.poll() is None
    assert took < 40, f"told after {took:.0f} s"
    report = vigil.why()
    assert report["kind"] == "straggler" and report["cause"]["id"] == "slow_rank", report
    assert report["culprit_ranks"] == [1] and report["cause"]["confidence"] == "medium", report
    assert report["summary"].startswith("Rank 1 is slow: 0.") and "where the others do 3." in report["summary"], report
    assert "it waits for process " in report["cause"]["text"], report
    assert not any("uneven" in e["text"] for e in report["evidence"]), report["evidence"]
    assert "Rank 1 is slow" in vigil("show").out.decode()
    state = {row["rank"]: row.get("slow") for row in map(json.loads, vigil("ps", "--json").out.splitlines())}
    assert state == {0: None, 1: True, 2: None}, state
    assert " slow " in vigil("ps").out.decode()
    slow.unlink()
    wait_for(lambda: events(vigil, "straggler_over"), 60, "it to be as fast as it was")
    assert "is slow:" not in vigil("show").out.decode().split("Processes")[0]
    assert len(events(vigil, "straggler")) == 1 and not events(vigil, "slowdown")


@pytest.mark.slow
def test_a_rank_that_takes_longer_by_its_own_work_is_an_event_and_no_more(vigil, ranks):
    """A larger batch, a longer input and a pause of its own look the same."""
    p, _ = ranks(by_itself=True)
    (told,) = wait_for(lambda: events(vigil, "pace") or p.poll() is not None, 60, "the event")
    assert p.poll() is None
    assert told["text"].startswith("Rank 1 is slow: 0.") and "for longer in each step" in told["text"], told
    time.sleep(15)  # longer than the pause before the next look
    assert len(events(vigil, "pace")) == 1 and not events(vigil, "straggler") and not events(vigil, "slowdown")
    assert not list(vigil.state.glob("jobs/*/incidents/*.json"))


def test_a_rank_that_all_others_wait_for_in_a_loop_is_named(vigil, binary, tmp_path):
    """Who goes round in a library of messages is busy, and waits all the same."""
    slow = tmp_path / "slow"
    p = vigil.start("run", "--nproc", 2, "--", binary.parents[2] / "tests/tool/mpislow", tmp_path / "shared", slow)
    time.sleep(20)  # of steps as usual
    slow.touch()
    wait_for(lambda: events(vigil, "straggler") or p.poll() is not None, 150, "the slow rank")
    assert p.poll() is None
    report = vigil.why()
    assert report["kind"] == "straggler" and report["culprit_ranks"] == [1], report
    assert "It sleeps" in report["cause"]["text"], report


@pytest.mark.slow
@pytest.mark.parametrize("layout, how, says", [("pool", "compute", "in work, called by"), ("spawn", "nap", "in slow_part, called by"),
                                               ("parked", "compute", "in work, called by")])
def test_a_slow_rank_whose_threads_work_is_named(vigil, binary, tmp_path, layout, how, says):
    """Its first thread waits for others of its process: whether these wait for ranks or do something all of them show."""
    slow = tmp_path / "slow"
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    job = vigil.start("run", "--nproc", 3, "--", binary.parents[2] / "tests/tool/poolranks", layout, how, port, slow,
                      stdout=subprocess.DEVNULL)
    wait_for(lambda: any("step 150/" in f.read_text() for f in vigil.state.glob("jobs/*/attempt-0/rank-1.out")), 240, "steps as usual")
    slow.touch()
    wait_for(lambda: events(vigil, "straggler") or job.poll() is not None, 400, "the slow rank")
    assert job.poll() is None
    report = vigil.why()
    assert report["kind"] == "straggler" and report["culprit_ranks"] == [1] and says in report["cause"]["text"], report
    assert report["cause"]["confidence"] == "medium", report
