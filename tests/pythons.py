"""The Pythons of this machine that tests can start, and look into.

The system's own, those of pyenv, and what tools/pythons put under .cache/pythons: folders to be entered with
chroot (trixie, sid) or plain trees (3.13t). A test asks find() and skips, by name, what is not there.

    @pytest.mark.parametrize("python", pythons.find(), ids=str)
    def test_...(python, tmp_path):
        process = subprocess.Popen([*python.argv, python.place(script)], env=python.env())
"""
import dataclasses
import functools
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
QUESTION = "import sys,sysconfig; print(*sys.version_info[:2], int(bool(sysconfig.get_config_var('Py_GIL_DISABLED'))))"


@dataclasses.dataclass(frozen=True)
class Python:
    label: str            # "3.11 debian", "3.14 sid chroot", "3.13t built"
    argv: tuple           # what to put in front of the script
    version: tuple        # (3, 14)
    free_threaded: bool
    chroot: str | None    # the folder it sees as its root

    def __str__(self):
        return self.label.replace(" ", "-")

    def env(self, **more):
        """The tests' environment without what would lead this Python astray."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON") or k == "PYTHONUNBUFFERED"}
        return {**kept, "LC_ALL": "C.UTF-8", **more}

    def place(self, script):
        """Where this Python finds the script: itself, or a copy inside the chroot (end it with unplace)."""
        if not self.chroot:
            return str(script)
        folder = tempfile.mkdtemp(prefix="vigil-test-", dir=os.path.join(self.chroot, "tmp"))
        os.chmod(folder, 0o755)
        copy = pathlib.Path(folder, pathlib.Path(script).name)
        shutil.copyfile(script, copy)
        return "/" + str(copy.relative_to(self.chroot))

    def outside(self, path):
        """The same file as this process names it."""
        return self.chroot + path if self.chroot else path

    def unplace(self, placed):
        """Removes what place() made; a script that was not copied stays."""
        folder = pathlib.Path(self.outside(placed)).parent
        if self.chroot and folder.name.startswith("vigil-test-"):
            shutil.rmtree(folder, ignore_errors=True)


def ask(argv, where, chroot=None):
    """A Python that answers; None if it cannot be run here."""
    probe = Python("", tuple(argv), (), False, chroot)
    try:
        done = subprocess.run([*argv, "-c", QUESTION], env=probe.env(), capture_output=True, text=True, timeout=30)
        major, minor, free = map(int, done.stdout.split())
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    label = f"{major}.{minor}{'t' if free else ''} {where}"
    return Python(label, tuple(argv), (major, minor), bool(free), chroot)


def places():
    system = pathlib.Path("/usr/bin/python3")
    if system.exists():
        os_id = "debian" if pathlib.Path("/etc/debian_version").exists() else platform.system().lower()
        yield [str(system)], os_id, None
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT") or pathlib.Path.home() / ".pyenv")
    for tree in sorted((pyenv / "versions").glob("3.*")):
        if not tree.is_symlink() and (tree / "bin/python3").exists():
            yield [str(tree / "bin/python3")], f"pyenv {tree.name}", None
    for folder in sorted((ROOT / ".cache/pythons").glob("*")):
        if not (folder / "vigil-pythons").exists():
            continue
        for program in sorted((folder / "bin").glob("python3.*[0-9t]")):
            if (folder / "usr/bin").is_dir():
                if os.geteuid() == 0:  # chroot is root's
                    yield ["chroot", str(folder), f"/usr/bin/{program.name}"], f"{folder.name} chroot", str(folder)
            else:
                yield [str(program)], "built", None


@functools.cache
def find(at_least=(3, 8)):
    """Every Python here from that version on, oldest first; the tests' order is the same each time."""
    found = {}
    for place in places():
        python = ask(*place)
        if python and python.version >= at_least:
            found.setdefault(python.label, python)  # one tree may name its program twice
    return tuple(sorted(found.values(), key=lambda p: (p.version, p.label)))


if __name__ == "__main__":
    for each in find():
        print(f"{each.label:<24} {' '.join(each.argv)}")
