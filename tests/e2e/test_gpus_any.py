"""What vigil must say of any NVIDIA machine: each test on a fake library, and on the real one where it has a device.

tests/gpu.md lists these tests; the last one here keeps the list true. Whatever a machine has, only what must be so of all
is asked for; what a fake library alone can do (errors, delays, other sizes of records) is in test_gpus.py.
"""
import ctypes
import re
import shutil
import struct
import subprocess
import sys

import psutil
import pytest

from conftest import ROOT, wait_for
from gpukit import fake  # noqa: F401

MIB = 1 << 20
BYTES = 64 * MIB

# Works on the first device that CUDA gives it, and says which that is; then it waits.
HOLDER = f"""if 1:
    import ctypes, sys
    cuda = ctypes.CDLL("libcuda.so.1")
    device, context, memory, pci = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64(), ctypes.create_string_buffer(64)
    for r in (cuda.cuInit(0), cuda.cuDeviceGet(ctypes.byref(device), 0), cuda.cuDeviceGetPCIBusId(pci, 64, device),
              cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device),
              cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t({BYTES}))):
        if r:
            sys.exit(f"CUDA answered {{r}}")
    print(pci.value.decode().lower(), flush=True)
    sys.stdin.read()
"""
FAKE = [f"device {i} {key} {value}" for i, bus in enumerate((0x17, 0x3d)) for key, value in
        (("name", "NVIDIA H100 80GB HBM3"), ("uuid", f"GPU-{i}{i}{i}{i}"), ("bus", bus), ("minor", i), ("busy", 40),
         ("memory_busy", 10), ("memory_total", 80 << 30), ("memory_used", 1 << 30), ("power", 150_000), ("power_limit", 700_000),
         ("temperature", 40), ("sm_clock", 1500), ("sm_clock_max", 1980))] + ["process 0 graphics 4194303 5"]


class FakeMachine:
    def __init__(self, fake):
        self.fake, self.env, self.names = fake, fake.env, ["0000:17:00.0", "0000:3d:00.0"]
        fake(*FAKE)

    def occupy(self, pid):
        """On a device that does nothing otherwise: one that works is no hang."""
        self.fake(*(line.replace("1 busy 40", "1 busy 0").replace("1 memory_busy 10", "1 memory_busy 0") for line in FAKE),
                  f"process 1 compute {pid} {BYTES}")
        return self.names[1]

    def hold(self):
        process = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
        return process, self.occupy(process.pid)


class RealMachine:
    env = {"VIGIL_DCMI_PATH": "/nowhere/libdcmi.so"}

    def __init__(self):
        try:
            nvml = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError as e:
            pytest.skip(f"no NVIDIA driver here: {e}")
        r, n = nvml.nvmlInit_v2(), ctypes.c_uint()
        if r:
            pytest.skip(f"the NVIDIA driver does not work here: nvmlInit answered {r}")
        r = nvml.nvmlDeviceGetCount_v2(ctypes.byref(n))
        if r or n.value == 0:
            pytest.skip(f"the NVIDIA driver has no device here (nvmlDeviceGetCount answered {r})")
        self.names = []
        for i in range(n.value):
            handle, pci = ctypes.c_void_p(), ctypes.create_string_buffer(68)
            assert nvml.nvmlDeviceGetHandleByIndex_v2(i, ctypes.byref(handle)) == 0
            assert nvml.nvmlDeviceGetPciInfo_v3(handle, pci) == 0
            self.names.append("%04x:%02x:%02x.0" % struct.unpack_from("III", pci.raw, 16))
        nvml.nvmlShutdown()

    def hold(self):
        process = subprocess.Popen([sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        line = process.stdout.readline()
        if not line:
            pytest.skip(f"no program can work on the GPU here: {process.communicate()[1].strip()[-200:]}")
        return process, line.strip()[-12:]


@pytest.fixture(params=["fake", "real"])
def machine(request):
    return RealMachine() if request.param == "real" else FakeMachine(request.getfixturevalue("fake"))


@pytest.fixture
def holder(machine):
    """(process that works on a device, that device's PCI address)"""
    process, pci = machine.hold()
    yield process, pci
    process.kill()
    process.communicate()


def seen(result):
    assert result.status == 0, result
    view = result.json()
    assert view["schema"] == "vigil.gpu/1" and view["findings"] == [], view
    return view, [g for g in view["gpus"] if g["vendor"] == "nvidia"]


def test_each_device_is_shown_once(vigil, machine):
    view, gpus = seen(vigil("gpus", "--json", env=machine.env))
    assert sorted(g["pci"] for g in gpus) == sorted(machine.names)
    assert len({g["uuid"] for g in gpus}) == len({g["index"] for g in gpus}) == len(gpus)
    driver = next(d for d in view["drivers"] if d["name"] == "NVML")
    assert driver["state"] == "ready" and re.match(r"\d+\.", driver["version"])
    text = vigil("gpus", env=machine.env).out.decode()
    assert all(g["name"][:20] in text for g in gpus) and driver["version"] in text


def test_values_are_such_as_there_can_be(vigil, machine):
    _, gpus = seen(vigil("gpus", "--json", env=machine.env))
    for g in gpus:
        assert not g["lost"] and 100 * MIB < g["memory_total_bytes"] and g["memory_used_bytes"] <= g["memory_total_bytes"]
        assert all(0 <= g[k] <= 1 for k in ("busy_ratio", "memory_busy_ratio") if k in g)
        assert g.get("power_mw", 0) <= 5_000_000 and 0 < g.get("temperature_c", 20) < 130
        assert g.get("sm_clock_mhz", 0) <= g.get("sm_clock_max_mhz", 10_000)
        assert all(p["driver_pid"] > 0 for p in g.get("processes", []) if "driver_pid" in p)


def test_of_a_process_the_device_is_shown_that_it_works_on(vigil, machine, holder):
    process, pci = holder
    _, gpus = seen(vigil("gpus", process.pid, "--json", env=machine.env))
    assert pci in [g["pci"] for g in gpus]
    mine = [p for g in gpus if g["pci"] == pci for p in g["processes"] if p.get("pid") == process.pid]
    assert len(mine) == 1, gpus
    if mine[0]["by"] == "driver":
        assert [g["pci"] for g in gpus] == [pci], "only that one"
        assert mine[0].get("memory_bytes", BYTES) >= BYTES


def test_memory_on_the_device_is_told_by_process(vigil, machine, holder):
    process, _ = holder
    (row,) = vigil("mem", process.pid, "--json", env=machine.env).json()["processes"]
    if "gpu_bytes" not in row:
        view, gpus = seen(vigil("gpus", process.pid, "--json", env=machine.env))
        told = [p for g in gpus for p in g["processes"] if p.get("pid") == process.pid and "memory_bytes" in p]
        assert not told, "the driver tells it"
        pytest.skip("the driver tells no memory by process here")
    assert row["gpu_bytes"] >= BYTES


def test_who_uses_no_device_is_told_so(vigil, machine):
    with subprocess.Popen(["sleep", "60"]) as idle:
        _, gpus = seen(vigil("gpus", idle.pid, "--json", env=machine.env))
        assert gpus == []
        assert b"uses no GPU" in vigil("gpus", idle.pid, env=machine.env).out
        idle.kill()


def test_a_run_loads_no_driver(vigil, machine, tmp_path):
    result = vigil("run", "--", "/bin/true", env={**machine.env, "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": tmp_path / "loaded"})
    assert result.status == 0
    loaded = "".join(p.read_text() for p in tmp_path.glob("loaded.*"))
    assert "libc.so" in loaded and "libnvidia-ml" not in loaded and "fake_nvml" not in loaded


def test_no_child_is_left(vigil, machine):
    seen(vigil("gpus", "--json", env=machine.env))
    wait_for(lambda: not vigil.strays(), 10, "the drivers' children to end")


def test_a_hang_shows_its_device(vigil, machine):
    """A rank that works on a device and then waits for ever; the evidence has the device's use."""
    code = "" if isinstance(machine, FakeMachine) else HOLDER.replace("sys.stdin.read()", "pass")
    script = vigil.state.parent / "rank.py"
    script.write_text(code + """
import threading, time
for step in range(1, 31):
    print(f"step {step}/1000 loss=1.0", flush=True)
    time.sleep(0.1)
threading.Event().wait()
""")
    job = vigil.start("run", "--hang-after", "4s", "--nproc", 1, "--", sys.executable, script, env=machine.env)

    def rank():
        return [c.pid for c in psutil.Process(job.pid).children() if str(script) in c.cmdline() and c.name().startswith("python")]
    pid = wait_for(rank, 20, "the rank")[0]
    if isinstance(machine, FakeMachine):
        machine.occupy(pid)
    reports = wait_for(lambda: job.poll() or list(vigil.state.glob("jobs/*/incidents/*.txt")), 90, "the report of the hang")
    if job.poll():
        said = vigil.finish(job).text
        assert "CUDA answered" in said or "libcuda" in said, said
        pytest.skip("no program can work on the GPU here")
    assert reports
    counters = [e["text"] for e in vigil.why()["evidence"] if e["kind"] == "counters"]
    assert counters and re.search(r"GPU [\d,]+ \d+ % busy at \d+ W", counters[0]), counters
    job.terminate()
    vigil.finish(job)


def test_it_says_what_the_driver_s_own_tool_says(vigil, machine):
    if isinstance(machine, FakeMachine):
        pytest.skip("nvidia-smi does not speak with a fake library")
    ask = ["nvidia-smi", "--query-gpu=index,uuid,name,memory.total,power.limit", "--format=csv,noheader,nounits"]
    if not shutil.which("nvidia-smi"):
        pytest.skip("the driver's own tool is not here")
    smi = subprocess.run(ask, text=True, capture_output=True)
    if smi.returncode:
        pytest.skip(f"nvidia-smi does not work here: {smi.stdout}{smi.stderr}")
    rows = [[w.strip() for w in line.split(",")] for line in smi.stdout.splitlines()]
    _, gpus = seen(vigil("gpus", "--json", env=machine.env))
    assert [(str(g["index"]), g["uuid"], g["name"]) for g in gpus] == [tuple(r[:3]) for r in rows]
    for gpu, row in zip(gpus, rows):
        assert abs(gpu["memory_total_bytes"] / MIB - float(row[3])) <= 1
        assert abs(gpu["power_limit_mw"] / 1000 - float(row[4])) <= 1


def test_the_list_is_true():
    listed = set(re.findall(r"^- `(\w+)`", (ROOT / "tests/gpu.md").read_text(), re.M))
    here = {name for name in globals() if name.startswith("test_")} - {"test_the_list_is_true"}
    units = set(re.findall(r"ON_BOTH\((\w+)\),", (ROOT / "tests/unit/sense/test_gpu_any.c").read_text()))
    assert listed == here | units
