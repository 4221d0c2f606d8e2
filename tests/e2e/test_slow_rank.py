"""A rank whose own steps become slow, while nobody waits for it: it is named soon, and no longer than it lasts."""
import json
import sys
import time

from conftest import wait_for
from hangkit import events

LOOP = """
import os, sys, time
slow, step = int(os.environ["RANK"]) == 1, 0
while step < 100000:
    time.sleep(1.2 if slow and os.path.exists(sys.argv[1]) else 0.3)
    step += 1
    print(f"step {step}/100000 loss 0.5", flush=True)
"""


def test_a_rank_that_becomes_slow_alone_is_named_while_it_lasts(vigil, tmp_path):
    p = vigil.start("run", "--nproc", 3, "--", sys.executable, "-c", LOOP, tmp_path / "slow")
    time.sleep(20)
    (tmp_path / "slow").touch()
    began = time.monotonic()
    wait_for(lambda: events(vigil, "straggler") or p.poll() is not None, 60, "the slow rank")
    took = time.monotonic() - began
    assert p.poll() is None
    assert took < 40, f"told after {took:.0f} s"
    report = vigil.why()
    assert report["kind"] == "straggler" and report["cause"]["id"] == "slow_rank", report
    assert report["culprit_ranks"] == [1] and report["cause"]["confidence"] == "medium", report
    assert report["summary"].startswith("Rank 1 is slow: 0.8") and "where the others do 3." in report["summary"], report
    assert not any("uneven" in e["text"] for e in report["evidence"]), report["evidence"]
    assert "Rank 1 is slow" in vigil("show").out.decode()
    slow = {row["rank"]: row.get("slow") for row in map(json.loads, vigil("ps", "--json").out.splitlines())}
    assert slow == {0: None, 1: True, 2: None}, slow
    assert " slow " in vigil("ps").out.decode()
    (tmp_path / "slow").unlink()
    wait_for(lambda: events(vigil, "straggler_over"), 60, "it to be as fast as it was")
    assert "is slow:" not in vigil("show").out.decode().split("Processes")[0]
    assert len(events(vigil, "straggler")) == 1 and not events(vigil, "slowdown")
