"""The fixtures of the end-to-end tests, for jobs that use real frameworks."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

_path = pathlib.Path(__file__).resolve().parents[1] / "e2e/conftest.py"
_spec = importlib.util.spec_from_file_location("e2e_fixtures", _path)
_fixtures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_fixtures)

binary, state, vigil, begin = _fixtures.binary, _fixtures.state, _fixtures.vigil, _fixtures.begin
small_machine, wait_for, end_tree = _fixtures.small_machine, _fixtures.wait_for, _fixtures.end_tree
VENV = _fixtures.ROOT / ".venv-frameworks/bin"


@pytest.fixture
def own_network():
    """The words before a command that give it a network with a loopback interface and nothing else."""
    try:
        holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "ip link set lo up && echo up && exec cat"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except FileNotFoundError as e:
        pytest.skip(f"no network of its own without {e.filename}; tools/setup frameworks installs it")
    said = holder.stdout.readline().decode().strip()
    if said != "up":
        holder.communicate()
        pytest.skip(f"no network of its own, and Ray listens on every address: {said}")
    yield ["nsenter", f"--net=/proc/{holder.pid}/ns/net"]
    holder.communicate()


class Ray:
    """A Ray of its own: its programs, its folders, its network."""

    def __init__(self, prefix, folder, marks):
        self.prefix, self.folder = prefix, folder
        self.python, self.ray = str(VENV / "python"), str(VENV / "ray")
        # Ray keeps its token in the home folder, and its sockets' paths must be short.
        self.env = {"HOME": str(folder / "home"), "RAY_TMPDIR": str(folder / "r"), "RAY_USAGE_STATS_ENABLED": "0", **marks}

    def command(self, *args):
        return [*self.prefix, self.ray, *map(str, args)]

    def __call__(self, *args, env=None, box=None, timeout=90):
        """ray ARGS to its end."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(_fixtures.FOREIGN)}
        return subprocess.run(self.command(*args), env={**clean, **self.env, **(env or {})}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=timeout, preexec_fn=box.enter if box else None)


@pytest.fixture
def ray(own_network, state):
    if not (VENV / "python").exists():
        pytest.skip("Ray is not installed: .venv-frameworks is not there; tools/setup frameworks makes it")
    found = subprocess.run([VENV / "python", "-c", "import ray; print(ray.__version__)"], capture_output=True, text=True)
    if found.returncode:
        pytest.skip(f"Ray is not installed ({found.stderr.strip().splitlines()[-1]}); was PyPI out of reach?")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ray-"))
    for name in ("home", "r"):
        (folder / name).mkdir()
    # The mark by which the `vigil` fixture finds what is left over.
    yield Ray(own_network, folder, {"VIGIL_STATE_DIR": str(state)})
    shutil.rmtree(folder, ignore_errors=True)
