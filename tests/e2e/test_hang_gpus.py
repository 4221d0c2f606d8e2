"""Hangs of jobs on GPUs: the rule of old, devices in containers, and what drivers say. The driver is the fake of tests/fake."""
import itertools
import subprocess
import time

import pytest

from conftest import wait_for, workload
from gpukit import container, fake  # noqa: F401
from hangkit import events, looks, ranks_of, shown, watcher_of

# The rule of old ------------------------------------------------------------------------------------------------

WINDOW_MS = 60_000


@pytest.fixture
def on_gpus(vigil, fake):
    """on_gpus(use, words of vigil run…) starts a job whose two ranks stand at step 5, each with a GPU in that much use."""
    def start(use, *args, **env):
        fake("device 0 name NVIDIA H100", "device 1 name NVIDIA H100")
        p = vigil.start("run", "--hang-rule", "io-gpu", *args, "--nproc", 2, "--", *workload("hangs", "lock", "--at", 5),
                        env={**fake.env, **env})
        pids = ranks_of(p, 2)

        def set_use(now):
            """Little power and an idle memory: as devices that only wait for each other."""
            fake(*(f"device {i} {key} {value}" for i in range(2) for key, value in
                   (("name", "NVIDIA H100"), ("uuid", f"GPU-{i}"), ("busy", now), ("memory_busy", 0), ("power", 150_000),
                    ("power_limit", 700_000))),
                 *(f"process {i} compute {pid} 1000000" for i, pid in enumerate(pids)))
        set_use(use)
        return p, set_use
    return start


@pytest.mark.parametrize("args,env,after_ms", [(("--hang-after", "5s"), {}, 5_000), ((), {"MA_HANG_DETECT_TIME": "1"}, 60_000)])
@pytest.mark.slow
def test_by_the_rule_of_old_io_stands_and_then_the_use_of_gpus_does(vigil, on_gpus, args, env, after_ms):
    p, _ = on_gpus(100, "--on-hang", "kill", *args, **env)
    result = vigil.finish(p, 200)
    assert result.status == 124, result
    report = vigil.why()
    assert after_ms + WINDOW_MS <= report["hang"]["standstill_ms"] <= after_ms + WINDOW_MS + 20_000, report
    assert "By the rule io-gpu" in report["cause"]["text"] and "variance and median" in report["cause"]["text"]
    assert report["culprit_ranks"] == [1], "the evidence says who"


@pytest.mark.slow
def test_by_the_rule_of_old_a_use_that_goes_up_and_down_is_no_hang(vigil, on_gpus):
    p, set_use = on_gpus(40, "--hang-after", "5s")
    watcher_of(p)
    ends = time.monotonic() + 5 + WINDOW_MS / 1000 + 20
    for use in itertools.cycle((95, 40)):
        if time.monotonic() > ends:
            break
        set_use(use)
        with pytest.raises(subprocess.TimeoutExpired):
            p.wait(5)
    assert not events(vigil, "hang") and not events(vigil, "suspected")
    p.terminate()
    p.wait(20)


# In a container the driver names numbers of the host ---------------------------------------------------------------

def boxed_devices(use, busy=0):
    return [f"device {i} {key} {value}" for i in range(2) for key, value in
            (("name", "NVIDIA H100"), ("uuid", f"GPU-{i}"), ("minor", 6 + i), ("busy", use), ("memory_busy", busy),
             ("power", 150_000 if busy == 0 else 600_000), ("power_limit", 700_000))] + [
        f"process {i} compute {4194300 + i} 1000000" for i in range(2)]


@pytest.mark.slow
def test_by_the_rule_of_old_devices_that_ranks_have_open_are_the_jobs(vigil, fake, container):
    fake(*boxed_devices(100))
    p = vigil.start("run", "--hang-rule", "io-gpu", "--hang-after", "5s", "--on-hang", "kill", "--nproc", 2, "--",
                    *workload("hangs", "lock", "--at", 5, "--open", "/dev/nvidia6", "--open", "/dev/nvidia7"), env=fake.env,
                    prefix=container("nvidia6", "nvidia7"))
    result = vigil.finish(p, 200)
    assert result.status == 124, result
    report = vigil.why()
    assert 5_000 + WINDOW_MS <= report["hang"]["standstill_ms"] <= 5_000 + WINDOW_MS + 20_000, report
    assert "variance and median" in report["cause"]["text"] and "by their device files" in report["cause"]["text"], report


@pytest.mark.slow
def test_by_the_rule_of_old_a_container_whose_devices_work_is_no_hang(vigil, fake, container):
    fake(*boxed_devices(40, 30))
    p = vigil.start("run", "--hang-rule", "io-gpu", "--hang-after", "5s", "--on-hang", "kill", "--nproc", 2, "--",
                    *workload("hangs", "lock", "--at", 5, "--open", "/dev/nvidiaRANK"), env=fake.env,
                    prefix=container("nvidia0", "nvidia1"))
    ranks_of(p, 2)
    ends = time.monotonic() + 5 + WINDOW_MS / 1000 + 20
    for use in itertools.cycle((95, 40)):
        if time.monotonic() > ends:
            break
        fake(*(line.replace("minor 6", "minor 0").replace("minor 7", "minor 1") for line in boxed_devices(use, 30)))
        with pytest.raises(subprocess.TimeoutExpired):
            p.wait(5)
    assert not events(vigil, "hang")


@pytest.mark.parametrize("mapped", [True, False])
def test_the_evidence_says_by_what_a_device_is_the_ranks(vigil, fake, container, mapped):
    fake(*boxed_devices(100))
    words = ["--maps", "/dev/nvidiaRANK"] if mapped else []
    p = vigil.start("run", "--hang-after", "4s", "--on-hang", "kill", "--nproc", 2, "--",
                    *workload("hangs", "lock", "--at", 5, "--open", "/dev/nvidia0", "--open", "/dev/nvidia1", *words),
                    env=fake.env, prefix=container("nvidia0", "nvidia1"))
    fake(*(line.replace("minor 6", "minor 0").replace("minor 7", "minor 1") for line in boxed_devices(100)))
    result = vigil.finish(p, 90)
    assert result.status == 124, result
    counters = {e["text"].split(":")[0]: e["text"] for e in vigil.why()["evidence"] if e["kind"] == "counters"}
    for rank in (0, 1):
        which = f"GPU {rank} " if mapped else "GPU 0,1 "
        assert which + "100 % busy at 150 W (it only spins)" in counters[f"rank {rank}"], counters
        assert ("is mapped by the rank" if mapped else "does not prove that it is used") in counters[f"rank {rank}"], counters


# What drivers say of themselves -------------------------------------------------------------------------------------

def with_devices(vigil, fake, *trouble, what="lock"):
    """Two ranks at work on two GPUs; the driver gets into trouble as they stand."""
    p = vigil.start("run", "--hang-after", "4s", "--on-hang", "kill", "--nproc", 2, "--", *workload("hangs", what, "--at", 60,
                                                                                                    "--steps", 400), env=fake.env)
    pids = ranks_of(p, 2)
    machine = [f"device {i} {key} {value}" for i in range(2) for key, value in
               (("name", "NVIDIA H100"), ("uuid", f"GPU-{i}"), ("bus", 16 + i), ("busy", 100), ("memory_busy", 0), ("power", 150_000),
                ("power_limit", 700_000))] + [f"process {i} compute {pid} 1000000" for i, pid in enumerate(pids)]
    fake(*machine)
    kept = lambda: b"".join(f.read_bytes() for f in vigil.state.glob("jobs/*/attempt-0/rank-0.out"))  # noqa: E731
    wait_for(lambda: b"step 50/" in kept(), 30, "the job to run")
    fake(*machine, *trouble)
    result = vigil.finish(p, 90)
    assert result.status == 124, result
    return vigil.why()


def test_a_driver_that_blocks_is_told_of_and_does_not_hide_who_it_was(vigil, fake):
    fake("device 0 name NVIDIA H100", "device 1 name NVIDIA H100")
    report = with_devices(vigil, fake, "delay nvmlDeviceGetUtilizationRates 60000")
    assert looks(report) == ("hang", "orphaned_wait", [1]), report
    assert "does not come back from nvmlDeviceGetUtilizationRates" in shown(report), report


@pytest.mark.parametrize("code", [15, 16])
def test_a_gpu_that_its_driver_gave_up_is_the_cause(vigil, fake, code):
    fake("device 0 name NVIDIA H100", "device 1 name NVIDIA H100")
    report = with_devices(vigil, fake, f"return nvmlDeviceGetUtilizationRates {code} 1", what="size")
    assert report["cause"]["id"] == "gpu_given_up" and "gpu1" in report["cause"]["text"], report
