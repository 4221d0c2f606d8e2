"""PyTorch on a real CUDA device (cuda_jobs.py): deaths, hangs, healthy phases and what looks into them. Skipped without one.

They share the device, and what one does there the driver tells of all: run them one after the other.
"""
import json
import pathlib
import re
import subprocess
import sys
import time

import pytest

from conftest import VENV, wait_for

SCRIPT = str(pathlib.Path(__file__).with_name("cuda_jobs.py"))
ASKS = "import torch; print(torch.cuda.is_available() and torch.cuda.device_count())"


@pytest.fixture(scope="module")
def python():
    said = "no Python with PyTorch was found"
    for path in (VENV / "python", sys.executable):
        if not pathlib.Path(path).exists():
            continue
        found = subprocess.run([path, "-c", ASKS], capture_output=True, text=True)
        if found.returncode == 0 and found.stdout.strip() not in ("False", "0"):
            return str(path)
        said = f"{path}: {found.stdout.strip()} {found.stderr.strip()[-200:]}"
    pytest.skip(f"no CUDA device for PyTorch here ({said})")


@pytest.fixture
def job(vigil, python):
    """job(what, words of the job…, options=(words of vigil run…)) starts one."""
    def start(what, *words, options=(), **how):
        return vigil.start("run", *options, "--", python, "-u", SCRIPT, what, *words, **how)
    return start


def events(vigil, kind):
    lines = vigil("events", "--json").out.decode().splitlines()
    return [e for e in map(json.loads, lines) if e["kind"] == kind]


def evidence(report, kind):
    return [e["text"] for e in report["evidence"] if e["kind"] == kind]


def rank_of(vigil):
    def look():
        lines = vigil("ps", "last", "--json").out.decode().splitlines()
        rows = [json.loads(line) for line in lines]
        return next((row["pid"] for row in rows if row["role"] == "main" and row.get("step", 0) > 5), None)
    return wait_for(look, 120, "its steps")


# Deaths -------------------------------------------------------------------------------------------------------------

def test_a_wrong_write_has_the_driver_s_line(vigil, job):
    result = vigil.finish(job("illegal", "--at", 20), 120)
    report = vigil.why()
    assert result.status == 1 and report["kind"] == "error_exit", report
    if any(e["kind"] == "not_read" and e["text"].startswith("kmsg") for e in report["evidence"]):
        pytest.skip("the kernel's log cannot be read here")
    (line,) = evidence(report, "xid")
    assert f"31, pid={report['victim']['pid']}," in line and "MMU Fault" in line and "not mapped" in line, line


def test_an_assertion_of_a_kernel_is_quoted(vigil, job):
    assert vigil.finish(job("asserts", "--at", 20), 120).status == 1
    report = vigil.why()
    assert "device-side assert" in report["summary"] and "index out of bounds" in report["cause"]["text"], report


def test_who_holds_the_device_s_memory_is_named(vigil, job, python):
    with subprocess.Popen([python, "-u", SCRIPT, "holds"], stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"held\n"
        result = vigil.finish(job("asks", "--at", 20), 120)
        holder.kill()
    report = vigil.why()
    assert result.status == 1 and (report["kind"], report["cause"]["id"]) == ("gpu_oom", "gpu_other_process"), report
    assert f"pid {holder.pid}" in report["cause"]["text"], report


def test_a_collective_of_one_rank_that_times_out_blames_no_peer(vigil, job):
    vigil.finish(job("one-rank", "--seconds", 15, options=("--nproc", 1)), 180)
    report = vigil.why()
    assert (report["kind"], report["cause"]["id"]) == ("crash", "collective_timeout"), report
    assert "no other rank takes part" in report["summary"] and "peer" not in report["summary"], report


# Hangs --------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("words", [(), ("--blocking",)])
def test_a_kernel_that_does_not_end_is_told(vigil, job, words):
    result = vigil.finish(job("spins", *words, options=("--on-hang", "kill")), 300)
    report = vigil.why()
    assert result.status == 124 and (report["kind"], report["cause"]["id"]) == ("hang", "gpu_stuck"), report
    assert "one kernel runs there and does not end" in report["cause"]["text"] and not report.get("culprit_ranks")
    assert 180_000 <= report["hang"]["standstill_ms"] <= 200_000


def test_by_the_rule_of_old_a_kernel_that_does_not_end_is_told(vigil, job):
    result = vigil.finish(job("spins", options=("--hang-rule", "io-gpu", "--hang-after", "5s", "--on-hang", "kill")), 200)
    assert result.status == 124, result
    assert "variance and median" in vigil.why()["cause"]["text"]


def test_a_stopped_rank_with_tensors_on_the_device_is_named(vigil, job):
    result = vigil.finish(job("gloo-stopped", options=("--nproc", 2, "--on-hang", "kill")), 180)
    report = vigil.why()
    assert result.status == 124 and (report["cause"]["id"], report["culprit_ranks"]) == ("rank_stopped", [1]), report


def test_a_loader_that_nobody_feeds_is_named(vigil, job):
    result = vigil.finish(job("loader-stuck", options=("--on-hang", "kill")), 180)
    report = vigil.why()
    assert result.status == 124 and "pt_data_worker" in report["cause"]["text"], report
    assert "Samples.__getitem__" in report["cause"]["text"] and "open of a FIFO" in report["cause"]["text"], report


@pytest.mark.parametrize("what, seconds", [("sleeping-kernel", 40), ("long-kernel", 60), ("long-queue", 60), ("allocates", 40),
                                           ("replays", 60), ("compiles", 60)])
def test_what_takes_long_and_is_healthy_is_left_alone(vigil, job, what, seconds):
    result = vigil.finish(job(what, "--seconds", seconds, "--steps", 90, options=("--on-hang", "kill")), 400)
    assert result.status == 0, result
    assert not events(vigil, "hang")


# Looking in ---------------------------------------------------------------------------------------------------------

def test_a_loader_that_cannot_keep_up_is_found_at_each_look(vigil, job):
    job("loads", "--steps", 100_000)
    pid = rank_of(vigil)
    found = [[f["id"] for f in vigil("doctor", pid, "--for", "4", "--json").json()["findings"]] for _ in range(4)]
    assert all("loader-bound" in ids for ids in found), found


def test_looking_and_attaching_stop_no_step(vigil, job):
    p = job("trains", "--steps", 1_000_000, "--width", 1024)
    pid = rank_of(vigil)

    def steps():
        return max(map(int, re.findall(rb"step (\d+)/", vigil.log(0, "out").read_bytes()[-4096:])))
    for words in (("stack", pid, "--native"), ("flame", pid, "-d", "2", "--native", "-f", "folded", "-o", vigil.state / "f"),
                  ("heap", pid, "--attach"), ("heap", pid), ("heap", pid, "--detach")) * 4:
        before, result = steps(), vigil(*words)
        assert result.status == 0, result
        wait_for(lambda: steps() > before, 10, f"a step after {words}")  # noqa: B023
    assert p.poll() is None
    row = vigil("mem", pid, "--json").json()["processes"][0]
    assert row["gpu_bytes"] > 100 << 20
    assert b"DCGM_FI_DEV_GPU_UTIL" in vigil("metrics", "--gpus").out


def test_a_snapshot_and_a_trace_are_read(vigil, python, tmp_path):
    subprocess.run([python, SCRIPT, "snapshot", "--at", "5", "--file", tmp_path / "s.pickle"], check=True, timeout=120)
    text = vigil("heap", tmp_path / "s.pickle").out.decode()
    assert "cuda_jobs.py" in text and "unwind" not in text and "snapshot" in text, text
    subprocess.run([python, SCRIPT, "traces", "--steps", "50", "--file", tmp_path / "t.json"], check=True, timeout=120)
    begun = time.monotonic()
    text = vigil("doctor", tmp_path / "t.json").out.decode()
    assert "kernels and copies of" in text and time.monotonic() - begun < 20, text
