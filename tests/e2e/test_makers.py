"""Files that the job itself makes: a loop that looks for one which nobody is left to make is told early, with who usually
made them; one that somebody outside makes, or a process of the job that works on it, is left alone."""
import os
import pathlib
import sys
import threading
import time

import pytest

from hangkit import events, looks, need_bpf

# Rank 0 writes a checkpoint each tenth step and looks for its score, which rank 1 writes, or somebody outside does.
SCORED = """
import os, sys, time
rank, folder, what = int(os.environ["RANK"]), sys.argv[1], sys.argv[2]
def busy(s):
    end = time.monotonic() + s
    while time.monotonic() < end:
        pass
def put(name):
    open(os.path.join(folder, name + ".part"), "w").close()
    os.rename(os.path.join(folder, name + ".part"), os.path.join(folder, name))
def wait(name):
    while not os.path.exists(os.path.join(folder, name)):
        time.sleep(0.2)
for step in range(10, 110 if not what.startswith("lost") else 2000):
    busy(0.15)
    if rank == 0:
        print("step %d loss 0.5" % step, flush=True)
    if step % 10:
        continue
    if rank == 0:
        put("ckpt-%d" % step if not what.startswith("lost") or step < 90 else "ckpt_%d" % step)
        wait("score-%d" % step)
    else:
        wait("ckpt-%d" % step + ("/done" if what == "lost folder" and step == 90 else ""))
        if what == "slow" and step == 90:
            busy(55)
        if what != "outside":
            put("score-%d" % step)
"""


def scores_of_others(folder, until):
    """An evaluator that is none of the job's: it takes 55 s for the checkpoint of step 90."""
    step = 10
    while time.monotonic() < until and step < 110:
        if (folder / f"ckpt-{step}").exists():
            time.sleep(55 if step == 90 else 0)
            (folder / f"score-{step}").touch()
            step += 10
        time.sleep(0.1)


def run(vigil, folder, what):
    return vigil("run", "--nproc", 2, "--on-hang", "kill", "--on-hang-needs", "medium", "--", sys.executable, "-c", SCORED, folder,
                 what, timeout=180)


def run_until_told(vigil, folder, what):
    p = vigil.start("run", "--nproc", 2, "--", sys.executable, "-c", SCORED, folder, what)
    end = time.monotonic() + 120
    while time.monotonic() < end and not events(vigil, "hang"):
        time.sleep(1)
    p.terminate()
    return vigil.finish(p)


def need_makers(vigil):
    need_bpf(vigil)
    if os.geteuid() != 0:
        pytest.skip("who makes a file is told to root alone")


@pytest.mark.slow
@pytest.mark.parametrize("there", [True, False], ids=["in a folder", "in a folder that is not there"])
def test_a_file_that_a_rank_usually_makes_is_told_early_with_its_maker(vigil, tmp_path, there):
    need_makers(vigil)
    result = run_until_told(vigil, tmp_path, "lost" if there else "lost folder")
    report = vigil.why()
    assert looks(report)[:2] == ("hang", "poll_loop"), result
    assert report["hang"]["standstill_ms"] < 75_000
    assert "files of this kind are made by the job itself: " in report["cause"]["text"]


@pytest.mark.slow
@pytest.mark.parametrize("what", ["slow", "outside"])
def test_a_file_that_takes_its_maker_a_minute_is_left_alone(vigil, tmp_path, what):
    need_makers(vigil)
    if what == "outside":
        threading.Thread(target=scores_of_others, args=(pathlib.Path(tmp_path), time.monotonic() + 170), daemon=True).start()
    result = run(vigil, tmp_path, what)
    assert result.status == 0, result
    assert not events(vigil, "hang"), result
