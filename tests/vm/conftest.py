"""The machines of the tests: one of each kind a session."""
import subprocess

import pytest

from vmkit import HERE, boot, vigil_path, why_not

PLAIN = ["psi", "killed-by", "memory-high", "scope", "cgroup-limit", "race-cgroup", "protect", "race-global", "global-oom"]
SERVICE = ["outlive", "unit"]
SWAP = ["oomd-pressure", "swap", "oomd-swap"]


@pytest.fixture(scope="session")
def image():
    reason = why_not()
    if reason:
        pytest.skip(reason)
    if not vigil_path().exists():
        pytest.fail(f"{vigil_path()} is not built; run 'make build' or set VIGIL")
    built = subprocess.run([HERE / "build-image.sh"], capture_output=True, text=True, timeout=900)
    if built.returncode and "cannot download" in built.stderr:
        pytest.skip("no image and no package source to build one from: " + built.stderr.strip().splitlines()[-1])
    assert built.returncode == 0, built.stderr


@pytest.fixture(scope="session")
def plain(image, tmp_path_factory):
    return boot(tmp_path_factory.mktemp("plain") / "vm", 0, PLAIN)


@pytest.fixture(scope="session")
def service(image, tmp_path_factory):
    return boot(tmp_path_factory.mktemp("service") / "vm", 0, SERVICE)


@pytest.fixture(scope="session")
def with_swap(image, tmp_path_factory):
    return boot(tmp_path_factory.mktemp("swap") / "vm", 256, SWAP)
