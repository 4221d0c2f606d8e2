"""Driver libraries that tell of whatever machine a test writes down, and containers with device files."""
import shlex
import subprocess

import pytest

MACHINE = """
device 0 name NVIDIA H100 80GB HBM3
device 0 uuid GPU-aaaa
device 0 bus 0x17
device 0 busy 97
device 0 memory_busy 3
device 0 memory_total 85899345920
device 0 memory_used 1073741824
device 0 power 150000
device 0 power_limit 700000
device 0 temperature 64
device 0 sm_clock 1500
device 0 sm_clock_max 1980
device 0 reasons 0x44
device 1 name NVIDIA H100 80GB HBM3
device 1 uuid GPU-bbbb
device 1 bus 0x3d
device 1 busy 0
device 1 memory_busy 0
device 1 memory_total 85899345920
device 1 memory_used 0
"""


@pytest.fixture
def fake(binary, tmp_path):
    """fake(text) writes the machine that the drivers tell of; its .env points vigil at them."""
    folder = binary.parents[2] / "tests/fake"
    if not (folder / "fake_nvml.so").exists():
        pytest.skip(f"{folder}/fake_nvml.so is not built")
    path = tmp_path / "machine"

    class Fake:
        env = {"VIGIL_NVML_PATH": folder / "fake_nvml.so", "FAKE_NVML": path,
               "VIGIL_DCMI_PATH": "/nowhere/libdcmi.so"}

        def __call__(self, *parts):
            """At once: a driver that reads a half-written machine would tell of one that never was."""
            new = path.with_suffix(".new")
            new.write_text("\n".join(parts) + "\n")
            new.rename(path)

    return Fake()


@pytest.fixture
def container(tmp_path):
    """container("nvidia4", …): a command's prefix: a pid namespace, and a /dev with these files (a page each)."""
    def make(*devices):
        dev = shlex.quote(str(tmp_path / "dev"))
        lines = ["set -e", f"mkdir -p {dev}", f"mount -t tmpfs none {dev}", f"cd {dev}", "mkdir shm pts",
                 "ln -s /proc/self/fd fd", "for f in null zero full random urandom tty; do touch $f; mount --bind /dev/$f $f; done",
                 "mount --rbind /dev/shm shm", "mount --rbind /dev/pts pts"]
        lines += [f"head -c 4096 /dev/zero > {d}" for d in devices]
        box = ("unshare", "-pfm", "--mount-proc", "--kill-child", "sh", "-c",
               "; ".join([*lines, f"cd /; mount --rbind {dev} /dev", 'exec "$@"']), "-")
        if subprocess.run([*box, "true"], capture_output=True).returncode:
            pytest.skip("no pid and mount namespaces of its own here")
        return box
    return make
