"""What the end-to-end tests stand on: the built binary, a state folder, small machines, waiting with a deadline.

Nothing here sleeps for a fixed time to let something happen: wait_for() looks until it is so or the
deadline has passed. Everything started is ended with the test, whatever the test's result.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import psutil
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))  # pythons.py
WORKLOADS = ROOT / "tests/workloads"
# What a scheduler or a launcher around the tests may have set, and what would change vigil's mind.
FOREIGN = ("VIGIL_", "RAY_", "SLURM_", "OMPI_", "MA_HANG", "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE",
           "NODE_RANK", "MASTER_", "RESTART_COUNT", "XDG_STATE_HOME", "NOTIFY_SOCKET")


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: waits for minutes; begun first where several run side by side")


def pytest_collection_modifyitems(items):
    """The first handful of tests that each lane is given has one of the slow ones, as long as there are any."""
    slow = [i for i in items if i.get_closest_marker("slow")]
    lanes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    handful = max(len(items) // (4 * lanes), 2)
    others = [i for i in items if not i.get_closest_marker("slow")]
    for n, item in enumerate(slow):
        others.insert(min(n * handful, len(others)), item)
    items[:] = others


def wait_for(predicate, deadline_s=20, what=None):
    """The predicate's value as soon as it is true; fails the test after the deadline."""
    end, pause = time.monotonic() + deadline_s, 0.01
    while True:
        value = predicate()
        if value:
            return value
        if time.monotonic() > end:
            pytest.fail(f"waited {deadline_s} s for {what or getattr(predicate, '__name__', predicate)}")
        time.sleep(pause)
        pause = min(pause * 1.2, 0.1)  # who asks by starting a program each time uses up the numbers that processes have


def workload(name, *args):
    """The command of a test program."""
    return [sys.executable, "-u", str(WORKLOADS / f"{name}.py"), *map(str, args)]


def end_tree(process):
    """A process and all that descends from it; nothing if it has ended: its number may be another's by now, or a thread's."""
    if isinstance(process, subprocess.Popen):
        if process.poll() is not None:
            return
        process = psutil.Process(process.pid)
    try:
        doomed = [*process.children(recursive=True), process]
    except psutil.NoSuchProcess:
        doomed = []
    for process in doomed:
        try:
            process.send_signal(signal.SIGCONT)
            process.kill()
        except psutil.NoSuchProcess:
            pass
    psutil.wait_procs(doomed, timeout=10)


CRASHED = re.compile(r"signal (4|6|7|8|11)\b")


class Result:
    def __init__(self, args, status, out, err):
        self.args, self.status, self.out, self.err = args, status, out, err

    @property
    def text(self):
        return self.err.decode(errors="replace")

    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f"status {self.status}\nstdout {self.out[-2000:]!r}\nstderr {self.err[-4000:].decode(errors='replace')}"


class Vigil:
    """vigil("run", "--", ...) runs to the end; vigil.start(...) gives the running process."""

    def __init__(self, binary, state):
        self.binary, self.state = binary, state
        self.started = []

    def environment(self, extra=None):
        env = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
        # Tests of verdicts end their jobs by --on-hang kill; what a verdict has to rest on for that is a test of its own.
        env.update(VIGIL_STATE_DIR=str(self.state), PYTHONDONTWRITEBYTECODE="1", VIGIL_ON_HANG_NEEDS="medium")
        env.update({k: str(v) for k, v in (extra or {}).items()})
        return env

    def start(self, *args, env=None, box=None, prefix=(), **popen):
        popen.setdefault("stdin", subprocess.DEVNULL)
        popen.setdefault("stdout", subprocess.PIPE)
        popen.setdefault("stderr", subprocess.PIPE)
        popen.setdefault("start_new_session", True)
        command = [*map(str, prefix), str(popen.pop("binary", self.binary)), *map(str, args)]
        process = subprocess.Popen(command, env=self.environment(env), preexec_fn=box.enter if box else None, **popen)
        self.started.append(process)
        return process

    def __call__(self, *args, timeout=60, input=None, **kwargs):
        if input is not None:
            kwargs["stdin"] = subprocess.PIPE
        process = self.start(*args, **kwargs)
        return self.finish(process, timeout, input)

    def finish(self, process, timeout=60, input=None):
        try:
            out, err = process.communicate(input, timeout=timeout)
        except subprocess.TimeoutExpired:
            end_tree(process)
            out, err = process.communicate()
            pytest.fail(f"{process.args} did not end within {timeout} s\n{Result(process.args, None, out, err)}")
        return Result(process.args, process.returncode, out or b"", err or b"")

    def log(self, rank=0, stream="out", attempt=0):
        """The kept output of the only job in the state folder."""
        found = list(self.state.glob(f"jobs/*/attempt-{attempt}/rank-{rank}.{stream}"))
        assert len(found) == 1, f"expected one kept log, found {found}"
        return found[0]

    def why(self, what="last"):
        result = self("why", what, "--json")
        assert result.status == 0, result
        report = result.json()
        assert report["schema"] == "vigil.incident/1"
        return report

    def crashes(self):
        """What the job's events say of a guard or a watcher that died of its own fault: the job goes on, so nothing else shows it."""
        if not (self.state / "vigil.db").exists():
            return []
        told = subprocess.run([self.binary, "events", "--json"], env=self.environment(), capture_output=True, timeout=20, check=False)
        lines = told.stdout.decode(errors="replace").splitlines()
        return [line for line in lines if ("hang_watcher_died" in line or "guard_died" in line) and CRASHED.search(line)]

    def strays(self):
        """Whatever was started with this state folder, even if it has left its parents."""
        mark, found = str(self.state), []
        for process in psutil.process_iter():
            try:
                if process.environ().get("VIGIL_STATE_DIR") == mark:
                    found.append(process)
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                pass
        return found

    def end(self):
        for process in self.started:
            end_tree(process)
            process.wait(10)
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()
        for process in self.strays():
            end_tree(process)
        self.clear()

    def clear(self):
        """Killed with all of its helpers, a vigil leaves groups that the next one removes, as soon as they are empty."""
        until = time.monotonic() + 2
        while list(self.state.glob("watched/*")) and time.monotonic() < until:
            subprocess.run([self.binary, "jobs"], env=self.environment(), capture_output=True, timeout=20, check=False)


@pytest.fixture
def begin():
    """begin(command): the process, which has printed "begun" as its first line; ended with the test.

    begin(script, *args, python=p) runs a script under one of tests/pythons.py, in its own root if it has one.
    """
    started = []

    def start(*command, python=None, **popen):
        if python:
            command = [*python.argv, python.place(command[0]), *command[1:]]
            popen.setdefault("env", python.env(PYTHONDONTWRITEBYTECODE="1"))
        elif len(command) == 1 and isinstance(command[0], (list, tuple)):
            command = command[0]
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, **popen)
        started.append((process, python, command))
        assert process.stdout.readline() == b"begun\n"
        return process
    yield start
    for process, python, command in started:
        end_tree(process)
        process.wait(10)
        process.stdout.close()
        if python:
            python.unplace(command[len(python.argv)])


@pytest.fixture(scope="session")
def binary():
    path = pathlib.Path(os.environ.get("VIGIL") or ROOT / "build/src/cli/vigil").resolve()
    assert path.exists(), f"{path} is not built; run 'make build' or set VIGIL"
    return path


@pytest.fixture
def state(tmp_path):
    path = tmp_path / "state"
    path.mkdir()
    return path


@pytest.fixture
def vigil(binary, state):
    v = Vigil(binary, state)
    yield v
    v.end()
    assert not v.crashes()


def machine_kills():
    for line in pathlib.Path("/proc/vmstat").read_text().splitlines():
        if line.startswith("oom_kill "):
            return int(line.split()[1])
    return 0


def kernel_log():
    """All that the kernel has said, None where it may not be read."""
    try:
        fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    said = []
    try:
        while True:
            try:
                said.append(os.read(fd, 8192))
            except BrokenPipeError: # overtaken: the oldest is lost
                continue
    except OSError: # nothing more for now
        pass
    os.close(fd)
    return b"".join(said).decode(errors="replace")


class Box:
    """A memory control group with a limit; what enters it believes in a small machine."""

    def __init__(self, path, version, limit_bytes):
        self.path, self.version, self.limit_bytes = path, version, limit_bytes
        self.kills_before = machine_kills()

    def enter(self):
        """In the child, before it becomes the command."""
        with open(self.path / "cgroup.procs", "w") as f:
            f.write("0")

    def _number(self, file, key):
        for line in (self.path / file).read_text().splitlines():
            name, _, value = line.partition(" ")
            if name == key:
                return int(value)
        return 0

    def kernel_kills(self):
        """How often the kernel's killer came. Version 1 counts each group alone, and vigil's own group for the
        job is gone after it: there the kernel's log tells, which names the group that was full."""
        if self.version == 2:
            return self._number("memory.events", "oom_kill")
        said = kernel_log()
        if said is None: # then only the machine's count is left; other programs may add to it
            return machine_kills() - self.kills_before
        return sum(f"oom_memcg=/{self.path.name}" in line for line in said.splitlines())

    def groups(self):
        """This one and what vigil made below it, deepest first."""
        inner = [pathlib.Path(d) for d, _, _ in os.walk(self.path, topdown=False)]
        return inner or [self.path]

    def pids(self):
        found = []
        for group in self.groups():
            try:
                found += [int(p) for p in (group / "cgroup.procs").read_text().split()]
            except OSError:
                pass
        return found

    def _empty(self):
        for pid in self.pids():
            try:
                os.kill(pid, signal.SIGCONT)
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return not self.pids()

    def remove(self):
        wait_for(self._empty, 10, f"the processes in {self.path} to end")
        for group in self.groups():
            if group.exists():
                wait_for(lambda g=group: self._rmdir(g), 10, f"{group} to be removable")

    @staticmethod
    def _rmdir(group):
        try:
            group.rmdir()
            return True
        except FileNotFoundError:
            return True
        except OSError:
            return False


def memory_groups():
    """(folder to make groups in, version), or (None, why not)."""
    v1 = pathlib.Path("/sys/fs/cgroup/memory")
    v2 = pathlib.Path("/sys/fs/cgroup")
    if (v2 / "cgroup.controllers").exists():
        if "memory" not in (v2 / "cgroup.subtree_control").read_text().split():
            try:
                (v2 / "cgroup.subtree_control").write_text("+memory")
            except OSError as e:
                return None, f"the memory controller cannot be switched on in {v2}: {e.strerror}"
        return (v2, 2) if os.access(v2, os.W_OK) else (None, f"{v2} is not writable")
    if v1.is_dir():
        return (v1, 1) if os.access(v1, os.W_OK) else (None, f"{v1} is not writable")
    return None, "no memory control groups are mounted"


@pytest.fixture
def small_machine():
    """small_machine(256) makes a group of 256 MiB; pass it as vigil(..., box=it)."""
    boxes = []

    def make(mib):
        base, version = memory_groups()
        if base is None:
            pytest.skip(version)
        path = base / f"vigil-test-{os.getpid()}-{time.monotonic_ns()}"
        limit = mib * 1024 * 1024
        try:
            path.mkdir()
            boxes.append(Box(path, version, limit))
            (path / ("memory.max" if version == 2 else "memory.limit_in_bytes")).write_text(str(limit))
        except OSError as e:
            pytest.skip(f"no control group of its own: {path}: {e.strerror}")
        for swap, value in (("memory.swap.max", "0"), ("memory.memsw.limit_in_bytes", str(limit))):
            if (path / swap).exists():
                (path / swap).write_text(value)
        return boxes[-1]

    yield make
    for box in boxes:
        box.remove()


@pytest.fixture
def tiny_disk(tmp_path):
    """tiny_disk(64) mounts 64 KiB of tmpfs and gives its path."""
    mounted = []

    def make(kib):
        path = tmp_path / f"disk-{len(mounted)}"
        path.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", path], capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"cannot mount a tmpfs here: {done.stderr.strip()}")
        mounted.append(path)
        return path

    yield make
    for path in mounted:
        subprocess.run(["umount", "--lazy", path], check=True)


@pytest.fixture
def as_nobody(tmp_path_factory, binary):
    """The words before a command that take root's rights away; nothing where we have none."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
