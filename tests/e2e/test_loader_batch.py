"""Which worker of a DataLoader a rank waits for, on every Python of this machine."""
import json
import pathlib
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import pythons  # noqa: E402
from conftest import WORKLOADS, end_tree, wait_for  # noqa: E402

FOUND = [p for p in pythons.find(at_least=(3, 8)) if not p.free_threaded]


@pytest.mark.parametrize("python", FOUND, ids=str)
@pytest.mark.parametrize("pin", ["pipe", "thread"])
def test_the_worker_that_has_the_next_batch_is_the_one_that_is_waited_for(python, pin, binary, tmp_path):
    shutil.copy(WORKLOADS / "loaderbatch.py", tmp_path / "dataloader.py")
    placed = python.place(tmp_path / "dataloader.py")
    process = subprocess.Popen([*python.argv, placed, pin], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                               env=python.env(), start_new_session=True)
    try:
        worker = json.loads(process.stdout.readline())["worker"]

        def hint():
            done = subprocess.run([binary, "waits", str(process.pid), "--seconds", "0", "--json"], capture_output=True,
                                  text=True, timeout=60, check=True)
            seen = json.loads(done.stdout)["processes"]
            thread = next(t for p in seen for t in p["threads"] if t["tid"] == process.pid)
            return thread if "batch 5" in thread.get("hint", {}).get("text", "") else None
        thread = wait_for(hint, what="the main thread to wait for batch 5")
    finally:
        end_tree(process)
        process.wait(30)
        python.unplace(placed)
    assert thread["hint"]["kind"] == "owner" and not thread["hint"]["proof"], thread
    assert [(a["to"]["pid"], a["quality"]) for a in thread["arrows"]] == [(worker, "likely")], thread
