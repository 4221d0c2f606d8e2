"""An attacker: an ordinary user, a number that nobody has, so nothing is written into the user data base."""
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from conftest import end_tree

ATTACKER = 60717
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="takes root, whose vigil is asked to do what a user wants")


@pytest.fixture
def place():
    """A folder that everybody can pass: pytest's own are closed."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="vigil-foreign-", dir="/var/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def home(place):
    path = place / "home"
    path.mkdir()
    os.chown(path, ATTACKER, ATTACKER)
    return path


@pytest.fixture
def attacker(home):
    """attacker(script, *args): a Python program of the user's; returned once it has printed "ready"."""
    started = []

    def start(script, *args, namespaces=False, env=None, name="attack.py", **popen):
        file = home / name
        file.write_text(script)
        command = ["/usr/bin/python3", "-u", str(file), *map(str, args)]
        if namespaces:
            inner = 'mount -t tmpfs tmpfs /tmp && exec "$@"'
            command = ["unshare", "-Urm", "sh", "-c", inner, "-", *command]
        process = subprocess.Popen(command, user=ATTACKER, group=ATTACKER, extra_groups=[], stdin=subprocess.DEVNULL,
                                   stdout=popen.pop("stdout", subprocess.PIPE), stderr=popen.pop("stderr", subprocess.PIPE), cwd=home,
                                   env={"PATH": os.environ["PATH"], "HOME": str(home), **(env or {})}, **popen)
        started.append(process)
        if process.stdout and process.stdout.readline() != b"ready\n":
            process.wait(10)
            said = process.stderr.read().decode(errors="replace")
            if namespaces and ("unshare" in said or "mount" in said):
                pytest.skip(f"users may make no namespaces here: {said.strip()}")
            pytest.fail(said)
        return process

    yield start
    for process in started:
        end_tree(process)
        process.wait(10)
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()
