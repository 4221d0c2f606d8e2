"""Heap profiles of jobs that use PyTorch: known tensors counted exactly, and a DataLoader with 64 workers."""
import signal
import subprocess
import sys
import time

import pytest

from conftest import wait_for

MIB = 1 << 20
PYTHON = "/usr/bin/python3"
TENSORS = """
import os, signal
import torch
torch.set_num_threads(1)
def load():
    return [torch.zeros(2 << 20, dtype=torch.float32) for _ in range(12)]  # LOADED
def step(x):
    for _ in range(25):
        y = x * 2  # BRIEF
        del y
def grow(x):
    return torch.cat([x, x])  # GROWN
kept = load()
step(kept[0])
grown = grow(kept[0])
bias = torch.empty(16, 1 << 18, dtype=torch.float32)  # BIAS
print("ready", flush=True)
signal.pause()
"""
LOADER = """
import time
import torch
from torch.utils.data import DataLoader, Dataset
torch.set_num_threads(1)
class Items(Dataset):
    def __init__(self):
        self.shared = torch.ones(24 << 20, dtype=torch.uint8)  # SHARED
    def __len__(self):
        return 640
    def __getitem__(self, i):
        return torch.full((64 << 10,), float(self.shared[i]))
def begin(worker):
    global table
    table = torch.full((1 << 20,), float(worker))  # TABLE
def main():
    loader = DataLoader(Items(), batch_size=5, num_workers=64, worker_init_fn=begin, persistent_workers=True)
    total = sum(float(batch.sum()) for batch in loader)
    assert total == 640 * (64 << 10), total
    print("ready", flush=True)
    time.sleep(120)
main()
"""


def line_of(program, mark):
    return next(n for n, text in enumerate(program.splitlines(), 1) if text.endswith("# " + mark))


@pytest.fixture(autouse=True)
def has_torch():
    if subprocess.run([PYTHON, "-c", "import torch.utils.data"], capture_output=True).returncode:
        pytest.skip("no torch; tools/setup frameworks installs it")


def running(vigil, folder, program, *options):
    script = folder / "job.py"
    script.write_text(program)
    process = vigil.start("run", "--heap", *options, "--", PYTHON, script)
    assert wait_for(lambda: process.stdout.readline(), 100, "the job to be ready").strip() == b"ready"
    return process


def of(report, line):
    # what else such a line allocates, names and shapes, is small: one sample of it stands for half a MiB
    rows = [s for s in report["stacks"] if s["text"].startswith(f"job.py:{line} ") and s["bytes"] > 3 * MIB]
    return {key: sum(r.get(key, 0) for r in rows) for key in ("bytes", "objects", "resident_bytes", "processes")}, rows


def test_tensors_are_counted_exactly(vigil, tmp_path):
    """Each of them is so many times as large as the distance of samples that none is missed: equalities, not estimates."""
    process = running(vigil, tmp_path, TENSORS, "--heap-rate", "64K")
    live = vigil("heap", "last", "--what", "live", "--json").json()
    loaded, rows = of(live, line_of(TENSORS, "LOADED"))
    assert loaded["objects"] == 12 and abs(loaded["bytes"] - 12 * 8 * MIB) < 12 * 4096, loaded
    assert all(any("c10" in f.get("module", "") for f in row["frames"]) for row in rows), rows
    assert loaded["resident_bytes"] > 0.97 * loaded["bytes"], loaded
    grown, _ = of(live, line_of(TENSORS, "GROWN"))
    assert grown["objects"] == 1 and abs(grown["bytes"] - 16 * MIB) < 4096, grown
    bias, _ = of(live, line_of(TENSORS, "BIAS"))
    # empty() writes nothing, so it takes no memory yet
    assert bias["objects"] == 1 and abs(bias["bytes"] - 16 * MIB) < 4096 and bias["resident_bytes"] < MIB, bias
    brief, _ = of(vigil("heap", "last", "--what", "temporary", "--json").json(), line_of(TENSORS, "BRIEF"))
    assert brief["objects"] == 25 and abs(brief["bytes"] - 25 * 8 * MIB) < 25 * 4096, brief
    assert of(live, line_of(TENSORS, "BRIEF"))[0]["bytes"] == 0
    memory = live["processes"][0]["memory"]
    assert memory["attributed_bytes"] > 0.6 * memory["anon_bytes"], memory
    process.send_signal(signal.SIGTERM)
    vigil.finish(process)
    peak, _ = of(vigil("heap", "last", "--what", "peak", "--json").json(), line_of(TENSORS, "LOADED"))
    assert abs(peak["bytes"] - 12 * 8 * MIB) < 12 * 4096, peak


def test_a_data_loader_of_64_workers_is_profiled_as_one(vigil, tmp_path):
    process = running(vigil, tmp_path, LOADER)
    begun = time.monotonic()
    report = vigil("heap", "last", "--what", "live", "--json").json()
    took = time.monotonic() - begun
    assert len(report["processes"]) == 65, [p["name"] for p in report["processes"]]
    table, _ = of(report, line_of(LOADER, "TABLE"))
    assert table["processes"] == 64 and table["objects"] == 64 and abs(table["bytes"] - 64 * 4 * MIB) < 64 * 4096, table
    shared, _ = of(report, line_of(LOADER, "SHARED"))
    assert shared["processes"] == 1 and abs(shared["bytes"] - 24 * MIB) < 4096, shared
    parent = min(report["processes"], key=lambda p: p["begun_unix_ms"])
    workers = [p for p in report["processes"] if p is not parent]
    # what they share with the parent is there once
    whole = sum(p["memory"]["pss_anon_bytes"] for p in report["processes"])
    rest = sum(p["memory"]["unattributed_bytes"] for p in report["processes"])
    assert whole < 0.7 * sum(p["memory"]["anon_bytes"] for p in report["processes"]), (whole, parent["memory"], workers[0]["memory"])
    assert all(p["memory"]["inherited_bytes"] > 0 for p in workers), workers[0]
    print(f"64 workers: report in {took:.2f} s, {whole / MIB:.0f} MiB, {100 * rest / whole:.0f} % unattributed", file=sys.stderr)
    assert rest < 0.6 * whole, (rest, whole, parent["memory"], workers[0]["memory"])
    text = vigil("heap", "last").out.decode()
    assert f"job.py:{line_of(LOADER, 'TABLE')} begin" in text and "(64 processes)" in text, text
    process.send_signal(signal.SIGTERM)
    vigil.finish(process)
    peak = vigil("heap", "last", "--what", "peak", "--json").json()
    assert peak["together"]["processes"] == 65 and of(peak, line_of(LOADER, "TABLE"))[0]["processes"] == 64, peak["together"]
