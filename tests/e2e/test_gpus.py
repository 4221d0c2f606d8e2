"""vigil gpus on fake driver libraries; what must be so of a real one as well is in test_gpus_any.py."""
import os
import re
import subprocess
import sys
import time

import psutil
import pytest

from conftest import wait_for
from gpukit import MACHINE, container, fake  # noqa: F401

GIB = 1 << 30


def seen(result, status=0):
    assert result.status == status, result
    view = result.json()
    assert view["schema"] == "vigil.gpu/1"
    return view


def host_namespace():
    return os.readlink("/proc/self/ns/pid") == "pid:[4026531836]"


@pytest.fixture
def holder():
    """A process that a GPU may be said to belong to."""
    process = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.wait()
    process.stdin.close()


def test_a_node_without_gpus_is_no_error(vigil):
    env = {"VIGIL_NVML_PATH": "/nowhere/libnvidia-ml.so.1", "VIGIL_DCMI_PATH": "/nowhere/libdcmi.so"}
    view = seen(vigil("gpus", "--json", env=env))
    nvml = next(d for d in view["drivers"] if d["name"] == "NVML")
    assert nvml["state"] == "absent" and "/nowhere/libnvidia-ml.so.1" in nvml["text"]
    assert not [g for g in view["gpus"] if g["vendor"] == "nvidia"]
    assert view["findings"] == []
    if not view["gpus"]:
        text = vigil("gpus", env=env)
        assert text.status == 0
        assert b"No GPU here. What was looked at" in text.out and b"/nowhere/libnvidia-ml.so.1" in text.out


def test_devices_and_their_processes(vigil, fake, holder):
    fake(MACHINE, f"process 0 compute {holder.pid} 1000000 88 12", "process 0 compute 4194303 5")
    view = seen(vigil("gpus", "--json", env=fake.env))
    first, second = view["gpus"]
    assert first["name"] == "NVIDIA H100 80GB HBM3" and first["pci"] == "0000:17:00.0"
    assert (first["busy_ratio"], first["memory_busy_ratio"]) == (0.97, 0.03)
    assert first["memory_total_bytes"] == 80 * GIB and first["memory_used_bytes"] == GIB
    assert first["clock_reasons"] == ["sw_power_cap", "hw_thermal"]
    assert "power_mw" not in second and "energy_mj" not in first, "what is not known is absent"
    assert second["processes"] == []
    ours, gone = first["processes"]
    assert ours["driver_pid"] == holder.pid and ours["memory_bytes"] == 1000000 and ours["sm_ratio"] == 0.88
    assert gone["driver_pid"] == 4194303 and "pid" not in gone
    assert view["pids_foreign"] is not host_namespace()
    if host_namespace():
        assert ours["pid"] == holder.pid and "sys.stdin.read()" in ours["command"]
    text = vigil("gpus", env=fake.env).out.decode()
    assert "97 %" in text and "150/700 W" in text and "sw_power_cap, hw_thermal" in text and str(holder.pid) in text


def test_a_jobs_devices_with_rank_and_role(vigil, fake, state):
    if not host_namespace():
        pytest.skip("in a container the driver's process numbers are not ours")
    job = vigil.start("run", "--quiet", "--", sys.executable, "-c", "import os; print(os.getpid(), flush=True); os.read(0, 1)",
                      stdin=subprocess.PIPE, env={"RANK": "3", "WORLD_SIZE": "4"})
    pid = int(job.stdout.readline())
    fake(MACHINE, f"process 1 compute {pid} 2000000", f"process 1 compute {os.getpid()} 7")
    view = seen(vigil("gpus", "last", "--json", env=fake.env))
    assert [g["index"] for g in view["gpus"]] == [1], "only where the job is"
    ours, stranger = view["gpus"][0]["processes"]
    assert ours["pid"] == pid and ours["rank"] == 3 and ours["role"] == "main" and ours["job"]
    assert stranger["pid"] == os.getpid() and "job" not in stranger and stranger["command"]
    by_pid = seen(vigil("gpus", pid, "--json", env=fake.env))
    assert [g["index"] for g in by_pid["gpus"]] == [1]
    fake(MACHINE)
    assert seen(vigil("gpus", "last", "--json", env=fake.env))["gpus"] == []
    assert b"uses no GPU of this node" in vigil("gpus", "last", env=fake.env).out
    job.communicate(b"x", timeout=20)


HOLD = """if 1:
    import mmap, os, sys, time
    kept = [open(f"/dev/nvidia{n}", "rb") for n in (6, 7)]
    used = mmap.mmap(kept[int(os.environ["RANK"])].fileno(), 0, prot=mmap.PROT_READ) if "map" in sys.argv else None
    os.write(1, f"{os.environ['RANK']} {os.getpid()}\\n".encode())
    time.sleep(60)
"""


@pytest.mark.parametrize("how,devices,by", [
    ("open", [[0, 1], [0, 1]], "open"), ("map", [[0], [1]], "mapped"), ("visible", [[1], [1]], "visible")])
def test_in_a_container_devices_belong_to_who_has_them_open(vigil, fake, container, how, devices, by):
    """The driver names numbers of the host; what the ranks have of device files says which devices are the job's."""
    box = container("nvidia6", "nvidia7", "nvidiactl")
    env = {**fake.env, **({"CUDA_VISIBLE_DEVICES": "1"} if how == "visible" else {})}
    fake(MACHINE)
    job = vigil.start("run", "--quiet", "--nproc", 2, "--", sys.executable, "-c", HOLD, how, prefix=box, env=env)
    pids = dict(tuple(map(int, job.stdout.readline().split())) for _ in range(2))
    fake(MACHINE, "device 0 minor 6", "device 1 minor 7", "process 0 compute 4194301 9", "process 1 compute 4194302 9")
    inside = ("nsenter", "-p", "-m", "-t", psutil.Process(job.pid).children()[0].pid, "--")
    view = seen(vigil("gpus", "last", "--json", env=env, prefix=inside))
    assert view["pids_foreign"]
    found = {pids[r]: [g["index"] for g in view["gpus"] for p in g["processes"] if p.get("pid") == pids[r]] for r in pids}
    assert [found[pids[r]] for r in (0, 1)] == devices, view
    ours = [p for g in view["gpus"] for p in g["processes"] if "pid" in p]
    assert {p["by"] for p in ours} == {by} and {p["rank"] for p in ours} == {0, 1} and all("driver_pid" not in p for p in ours)
    foreign = [p for g in view["gpus"] for p in g["processes"] if "pid" not in p]
    assert foreign and all(p["driver_pid"] > 4194300 and p["by"] == "driver" for p in foreign)
    text = vigil("gpus", "last", env=env, prefix=inside).out.decode()
    assert {"open": "has it open", "mapped": "has it mapped", "visible": "open and visible"}[by] in text
    # a driver that translates its numbers is believed, and open files then say nothing
    fake(MACHINE, "device 0 minor 6", "device 1 minor 7", f"process 1 compute {pids[0]} 9")
    view = seen(vigil("gpus", "last", "--json", env=env, prefix=inside))
    assert [(g["index"], [(p["pid"], p["by"]) for p in g["processes"]]) for g in view["gpus"]] == [(1, [(pids[0], "driver")])]


@pytest.mark.parametrize("output", ["pipe", "json"])
def test_a_driver_that_blocks_is_a_finding_and_no_hang(vigil, fake, output):
    fake(MACHINE, "delay nvmlDeviceGetPowerUsage 60000")
    begun = time.monotonic()
    # communicate() also waits for the end of the pipe: the child that is stuck must not hold it open
    result = vigil("gpus", "--wait", "1s", *(["--json"] if output == "json" else []), env=fake.env, timeout=30)
    assert time.monotonic() - begun < 20
    assert result.status == 1
    if output == "json":
        (finding,) = result.json()["findings"]
        assert finding["kind"] == "driver_blocked" and finding["call"] == "nvmlDeviceGetPowerUsage"
        assert result.json()["gpus"][0]["busy_ratio"] == 0.97, "what came before the call is kept"
        assert "power_mw" not in result.json()["gpus"][0]
    else:
        assert b"NVML has not answered nvmlDeviceGetPowerUsage for 1." in result.out


def test_a_driver_that_blocks_as_it_starts(vigil, fake):
    fake(MACHINE, "delay nvmlInit_v2 60000")
    result = vigil("gpus", "--wait", "500ms", env=fake.env, timeout=30)
    assert result.status == 1 and b"nvmlInit_v2" in result.out and b"No GPU could be read here" in result.out


def test_no_child_is_left(vigil, fake):
    fake(MACHINE, "delay nvmlDeviceGetPowerUsage 60000")
    assert vigil("gpus", "--wait", "200ms", env=fake.env).status == 1
    wait_for(lambda: not vigil.strays(), 10, "the child that was given up to end")


def test_a_library_that_crashes_is_a_finding(vigil, fake):
    fake(MACHINE, "crash nvmlDeviceGetTemperature")
    view = seen(vigil("gpus", "--json", env=fake.env), 1)
    (finding,) = view["findings"]
    assert finding["kind"] == "driver_crashed" and finding["call"] == "nvmlDeviceGetTemperature" and finding["code"] == 11
    assert view["gpus"][0]["power_mw"] == 150000


@pytest.mark.parametrize("code, kind", [(15, "gpu_lost"), (16, "reset_required"), (18, "driver_mismatch")])
def test_codes_that_prove_something_are_findings(vigil, fake, code, kind):
    fake(MACHINE, f"return nvmlDeviceGetUtilizationRates {code} 1")
    view = seen(vigil("gpus", "--json", env=fake.env), 1)
    (finding,) = view["findings"]
    assert (finding["kind"], finding["code"], finding["uuid"]) == (kind, code, "GPU-bbbb")
    assert [g["lost"] for g in view["gpus"]] == [False, True]
    assert view["gpus"][0]["busy_ratio"] == 0.97


def test_xids_of_the_event_set(vigil, fake):
    fake(MACHINE, "event 1 8 79")
    (event,) = seen(vigil("gpus", "--json", env=fake.env))["events"]
    assert (event["uuid"], event["type"], event["data"]) == ("GPU-bbbb", 8, 79)


def test_xids_of_the_kernel_log(vigil, fake):
    """Written through the log's own device, such lines count as a program's; only the kernel's are believed."""
    fake(MACHINE)
    mark = f"{os.getpid():04x}"
    try:
        with open("/dev/kmsg", "w") as log:
            log.write(f"<14>NVRM: Xid (PCI:{mark}:17:00): 79, pid=1, name=x, GPU has fallen off the bus.")
    except OSError as e:
        pytest.skip(f"the kernel log cannot be written here: {e.strerror}")
    view = seen(vigil("gpus", "--json", env=fake.env))
    assert view["kernel_log_readable"]
    assert mark not in [x["pci"].split(":")[0] for x in view["xids"]], "anybody could forge an incident"


def test_npus(vigil, fake, tmp_path, holder):
    machine = tmp_path / "npus"
    machine.write_text(f"device 0 name 910B3\ndevice 0 busy 77\ndevice 0 memory_busy 20\ndevice 0 memory_total_mib 65536\n"
                       f"device 0 memory_used_mib 1024\nprocess 0 compute {holder.pid} 12345\n")
    library = fake.env["VIGIL_NVML_PATH"].parent / "fake_dcmi.so"
    view = seen(vigil("gpus", "--json", env={"VIGIL_NVML_PATH": "/nowhere", "VIGIL_DCMI_PATH": library, "FAKE_DCMI": machine}))
    npu = next(g for g in view["gpus"] if g["vendor"] == "huawei")
    assert npu["name"] == "Ascend 910B3" and npu["busy_ratio"] == 0.77 and npu["memory_total_bytes"] == 64 * GIB
    assert [p["driver_pid"] for p in npu["processes"]] == [holder.pid]


def test_mem_tells_gpu_memory_by_process(vigil, fake, holder):
    if not host_namespace():
        pytest.skip("in a container the driver's process numbers are not ours")
    fake(MACHINE, f"process 0 compute {holder.pid} 1000", f"process 1 compute {holder.pid} 234")
    (row,) = vigil("mem", holder.pid, "--json", env=fake.env).json()["processes"]
    assert row["gpu_bytes"] == 1234
    text = vigil("mem", holder.pid, env=fake.env).out.decode()
    assert re.search(rf"  GPU  COMMAND\n +{holder.pid} .* 1\.21 KiB  ", text), text
    fake(MACHINE, "delay nvmlInit_v2 60000")
    begun = time.monotonic()
    (row,) = vigil("mem", holder.pid, "--json", env=fake.env).json()["processes"]
    assert "gpu_bytes" not in row and time.monotonic() - begun < 15
    assert b"GPU" not in vigil("mem", holder.pid, env=fake.env).out, "no column where nothing is known"


def test_wrong_words_are_refused(vigil):
    assert vigil("gpus", "a", "b").status == 2
    assert vigil("gpus", "--wait", "1ms").status == 2
    assert vigil("gpus", "no-such-job").status == 4


def test_run_loads_no_driver(vigil, fake, tmp_path):
    fake(MACHINE, "crash nvmlInit_v2")
    trace = tmp_path / "loaded"
    result = vigil("run", "--", "/bin/true", env={**fake.env, "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": trace})
    assert result.status == 0
    loaded = "".join(p.read_text() for p in tmp_path.glob("loaded.*"))
    assert "libc.so" in loaded, "the linker told what it loads"
    assert "fake_nvml" not in loaded and "libnvidia-ml" not in loaded and "libdcmi" not in loaded
