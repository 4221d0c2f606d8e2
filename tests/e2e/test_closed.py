"""Jobs that take nothing in: who naps, and has nothing new to look at, is told early and low; who reads a file each time is left
alone, as somebody may still write it."""
import sys
import threading
import time

from hangkit import events, looks, need_bpf

# A helper tries a record of the trainer again and again: one that it has, or one that somebody outside is still to write.
TRIES = """
import json, multiprocessing, sys, time
path, what = sys.argv[1], sys.argv[2]
def parse(step):
    if step != 60:
        return [step]
    if what == "broken":
        raise ValueError("no end of record %d" % step)
    with open(path) as f:
        return json.load(f)
def work(pipe):
    for step in range(90):
        while True:
            try:
                pipe.send(parse(step))
                break
            except ValueError:
                time.sleep(0.5)
def train(pipe):
    for step in range(90):
        pipe.recv()
        time.sleep(0.15)
        print("step %d loss 0.5" % step, flush=True)
if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    context.Process(target=work, args=(theirs,), daemon=True).start()
    theirs.close()
    train(ours)
"""


def test_a_helper_that_fails_alike_and_takes_nothing_in_is_told_early(vigil, tmp_path):
    need_bpf(vigil)
    p = vigil.start("run", "--", sys.executable, "-c", TRIES, tmp_path / "record", "broken")
    end = time.monotonic() + 110
    while time.monotonic() < end and not events(vigil, "hang"):
        time.sleep(1)
    p.terminate()
    result = vigil.finish(p)
    report = vigil.why()
    assert looks(report)[:2] == ("hang", "rank_sleeps"), result
    assert report["cause"]["confidence"] == "low" and report["hang"]["standstill_ms"] < 75_000, report
    assert "no end of record 60" in report["cause"]["text"] and "takes in anything" in report["cause"]["text"], report


def test_a_helper_that_reads_what_may_still_come_is_left_alone(vigil, tmp_path):
    need_bpf(vigil)
    record = tmp_path / "record"
    record.write_text("[1, 2")
    threading.Timer(70, lambda: record.write_text("[1, 2]")).start()
    result = vigil("run", "--on-hang", "kill", "--on-hang-needs", "medium", "--", sys.executable, "-c", TRIES, record, "late",
                   timeout=150)
    assert result.status == 0 and not events(vigil, "hang"), result
