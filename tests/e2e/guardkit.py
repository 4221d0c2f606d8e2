"""What the tests of the guard share: fast hogs, the guard's own process, the traces a job may leave."""
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile

import psutil
import pytest

from conftest import WORKLOADS, wait_for

MIB = 1 << 20


@pytest.fixture
def hog(binary):
    """hog("--way", "shm") is the command of bench/hog, which fills memory as fast as the machine can."""
    path = binary.parents[2] / "bench/hog"
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return lambda *args: [str(path), *map(str, args)]


@pytest.fixture
def guardtrap(binary, tmp_path):
    """Environment that loads tests/e2e/native/guardtrap.c into vigil: guardtrap("die")."""
    path = binary.parents[2] / "tests/e2e/native/guardtrap.so"
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return lambda what="": {"LD_PRELOAD": path, "GUARDTRAP_DO": what, "GUARDTRAP_ONCE": tmp_path / "once",
                            "GUARDTRAP_LOG": tmp_path / "allocations"}


def guard_of(vigil_process, besides=None):
    """The pid of the guard, as soon as it goes by its name; besides: one that is dead or dying."""
    def look():
        for child in psutil.Process(vigil_process.pid).children():
            try:
                if child.name() == "vigil-guard" and child.pid != besides and child.status() != psutil.STATUS_ZOMBIE:
                    return child.pid
            except psutil.NoSuchProcess:
                pass
        return None
    return wait_for(look, 20, "the guard")


def job_ids(vigil):
    return [p.name for p in vigil.state.glob("jobs/*")]


def groups_left(vigil):
    """Control groups that vigil made for jobs of this state folder and that are still there."""
    names = {f"vigil-{job}" for job in job_ids(vigil)}
    return [os.path.join(d, s) for d, subs, _ in os.walk("/sys/fs/cgroup") for s in subs if s in names]


def no_trace(vigil, box=None):
    """Every process of the job is gone, and so are the groups made for it."""
    if box:
        wait_for(lambda: not box.pids(), 15, f"the processes in {box.path} to be gone")
    wait_for(lambda: not vigil.strays(), 15, "every process with this state folder to be gone")
    wait_for(lambda: not groups_left(vigil), 5, f"no control group to be left; left are {groups_left(vigil)}")


def states_of(pids):
    found = {}
    for pid in pids:
        try:
            found[pid] = psutil.Process(pid).status()
        except psutil.NoSuchProcess:
            pass
    return found


def memory_group(pid):
    """The folder of a process's memory group."""
    for line in pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        number, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return pathlib.Path("/sys/fs/cgroup/memory" + path)
        if number == "0" and not controllers and os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
            return pathlib.Path("/sys/fs/cgroup" + path)
    return None


def kill_tree_later(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


@pytest.fixture
def nobodys_vigil(vigil, as_nobody):
    """vigil and the test programs where somebody without rights can reach them."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="vigil-nobody-"))
    folder.chmod(0o755)
    shutil.copy(vigil.binary, folder / "vigil")
    shutil.copytree(WORKLOADS, folder / "workloads", ignore=shutil.ignore_patterns("__pycache__"))
    vigil.state = folder / "state"
    vigil.state.mkdir()
    if as_nobody:
        os.chown(vigil.state, 65534, 65534)
    vigil.binary, vigil.folder = folder / "vigil", folder
    yield vigil
    vigil.end()
    shutil.rmtree(folder)


@pytest.fixture
def nobodys_hog_run(nobodys_vigil, as_nobody):
    """(vigil, run): run(OPTIONS…) runs a hog without any right, so without a control group of its own."""
    v = nobodys_vigil

    def run(*options, hog=("400", "--rate", "100"), env=None, **kwargs):
        env = dict(env or {})
        if "LD_PRELOAD" in env:
            shutil.copy(env["LD_PRELOAD"], v.folder / "trap.so")
            scratch = v.folder / "scratch"
            scratch.mkdir(exist_ok=True)
            scratch.chmod(0o777)
            env.update(LD_PRELOAD=v.folder / "trap.so", GUARDTRAP_ONCE=scratch / "once", GUARDTRAP_LOG=scratch / "allocations")
        command = [sys.executable, str(v.folder / "workloads/hog.py"), *hog]
        return v("run", *options, "--", *command, prefix=as_nobody, cwd=v.folder, env=env, **kwargs)
    return v, run


def report_of(vigil, pid=None, kind=None, deadline_s=20):
    """The oldest stored report about this victim or of this kind, once it is complete."""
    def look():
        for path in sorted(vigil.state.glob("jobs/*/incidents/*.txt"), key=lambda p: p.stat().st_mtime): # written last
            report = json.loads(path.with_suffix(".json").read_text())
            if (pid is None or report["victim"]["pid"] == pid) and (kind is None or report["kind"] == kind):
                return report
        return None
    return wait_for(look, deadline_s, f"a report about pid {pid}, kind {kind}")
