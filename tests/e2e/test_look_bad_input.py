"""What stack, flame, calls and timeline answer where there is nothing to look at, or they may not, or it goes away meanwhile."""
import json
import os
import pathlib
import stat
import subprocess
import sys
import threading

import pytest

from conftest import wait_for, workload
from guardkit import nobodys_vigil  # noqa: F401

TO_LAST = ("stack", "waits", "flame", "heap", "collectives", "calls", "timeline", "show", "why", "logs")
LOOKS = {"stack": [], "flame": ["-d", 0.3, "-f", "folded"], "calls": ["-d", 0.3]}
COMMANDS = {**LOOKS, "timeline": []}
SPIN = "def spin():\n    while True:\n        pass\nprint('begun', flush=True)\nspin()\n"

looks = pytest.mark.parametrize("command", LOOKS)
commands = pytest.mark.parametrize("command", COMMANDS)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="takes root")


def run(vigil, command, what, *more, **how):
    return vigil(command, what, *COMMANDS[command], *more, timeout=30, **how)


def refused(result, status, *words):
    """One message for a person that says what is the matter, and no data."""
    assert result.status == status and not result.out, result
    assert len(result.text.splitlines()) <= 2 and result.text.startswith("vigil: "), result
    for word in words:
        assert word in result.text, result
    assert "Traceback" not in result.text and "runtime error" not in result.text


@pytest.fixture
def known(vigil):
    """A vigil that has seen a job, which is not what is asked for."""
    assert vigil("run", "--", "true").status == 0
    return vigil


@commands
@pytest.mark.parametrize("what", ["4294967296", "99999999999999999999999", "99999999", "no such job", ""])
def test_what_is_not_there_is_named(known, command, what):
    refused(run(known, command, what), 4, what)


@commands
def test_called_without_anything_or_with_too_much(vigil, command):
    assert vigil(command, "-1").status == 2
    assert vigil(command, "--no-such-option").status == 2
    assert vigil(command, "last", "last").status in (2, 4)


@pytest.mark.parametrize("command", TO_LAST)
def test_called_without_anything_it_means_the_last_job(vigil, command):
    none = vigil(command)
    assert none.status in (0, 4) and not none.out and "no job has been recorded" in none.text, none
    assert vigil("run", "--name", "first", "--", "true").status == 0
    assert vigil("run", "--name", "second", "--", "true").status == 0
    bare, last = vigil(command), vigil(command, "last")
    assert (bare.status, bare.out) == (last.status, last.out), (bare, last)
    assert "first" not in bare.text and b"first" not in bare.out


@commands
def test_a_thread_of_the_kernel(known, command):
    kernel = [p.name for p in pathlib.Path("/proc").iterdir() if p.name.isdigit() and
              (p / "stat").exists() and int((p / "stat").read_text().rpartition(")")[2].split()[6]) & 0x200000]
    if not kernel:
        pytest.skip("no thread of the kernel is to be seen here")
    result = run(known, command, kernel[0])
    if command != "timeline":
        said = result.text.splitlines()[-1]
        assert result.status == 3 and not result.out and f"process {kernel[0]}" in said and "of the kernel" in said, result
    else:
        refused(result, 4, kernel[0])


@pytest.fixture
def zombie(begin):
    process = begin([sys.executable, "-c", "import os, time\npid = os.fork()\nif pid == 0: os._exit(0)\n"
                     "print('begun', flush=True)\ntime.sleep(1000)"])
    child = int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text())
    wait_for(lambda: pathlib.Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] == "Z")
    return process.pid, child


@commands
def test_a_zombie(known, zombie, command):
    parent, child = zombie
    result = run(known, command, child)
    if command == "timeline":
        refused(result, 4, str(child))
        return
    said = result.text.splitlines()[-1]
    assert result.status == 3 and not result.out and "has ended" in said and str(child) in said, result
    with_parent = run(known, command, parent)
    assert with_parent.status == 0 and b"<module>" in with_parent.out, with_parent


@commands
def test_not_permitted(nobodys_vigil, begin, as_nobody, command):
    if not as_nobody:
        pytest.skip("takes root")
    v = nobodys_vigil
    process = begin([sys.executable, "-c", SPIN])
    assert v("run", "--", "true", prefix=as_nobody, cwd=v.folder).status == 0
    result = run(v, command, process.pid, prefix=as_nobody, cwd=v.folder)
    if command == "timeline":
        refused(result, 4, str(process.pid))
    else:
        said = result.text.splitlines()[-1]
        assert result.status == 3 and not result.out and "user" in said and str(process.pid) in said, result


@as_root
@commands
def test_a_store_that_may_not_be_read(nobodys_vigil, as_nobody, command):
    v = nobodys_vigil
    assert v("run", "--", "true").status == 0
    for path in (v.state, *v.state.rglob("*")):
        os.chown(path, 0, 0)
        path.chmod(0o700 if path.is_dir() else 0o600)
    refused(run(v, command, "last", prefix=as_nobody, cwd=v.folder), 3, "Permission denied")


@commands
def test_no_python(known, begin, command):
    process = begin(["sh", "-c", "echo begun; while :; do :; done"])
    result = run(known, command, process.pid)
    if command == "timeline":
        refused(result, 4, str(process.pid))
        return
    # a flame graph leaves out what only starts a program
    assert result.status == 0 and b".py" not in result.out, result
    assert (b"[dash]" if command == "flame" else b"__libc_start") in result.out, result


@commands
def test_a_job_that_has_ended(vigil, command):
    assert vigil("run", "--", "true").status == 0
    result = run(vigil, command, "last")
    if command == "timeline":
        assert result.status == 0 and json.loads(result.out)["traceEvents"]
    elif command == "calls":
        refused(result, 4, "were not counted, and it has ended")
    else:
        refused(result, 4, "nothing of it is running any more")


@looks
@pytest.mark.parametrize("options", [[], ["--native"]], ids=["python", "native"])
def test_children_that_come_and_go_meanwhile(vigil, begin, command, options):
    if command == "calls" and options:
        pytest.skip("calls has no native frames")
    process = begin([sys.executable, "-c", "import os\nprint('begun', flush=True)\nwhile True:\n    if os.fork() == 0:\n"
                     "        sum(range(20000)); os._exit(0)\n    os.waitpid(-1, 0)\n"])
    for _ in range(8):
        result = run(vigil, command, process.pid, *options)
        assert result.status == 0 and b"<module>" in result.out, result
    assert process.poll() is None


@looks
@pytest.mark.parametrize("after_s", [0.0, 0.002, 0.01, 0.05])
def test_gone_in_the_middle(vigil, begin, command, after_s):
    """stack may come before or after the death; a recording that has begun keeps what it has."""
    script = "import threading, time\nfor _ in range(200):\n    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n" + SPIN
    process = begin([sys.executable, "-c", script])
    timer = threading.Timer(after_s, process.kill)
    timer.start()
    result = run(vigil, command, process.pid)
    timer.join()
    said = result.text.splitlines()[-1:]
    assert result.status in (0, 3, 4) and (result.status == 0 or str(process.pid) in said[0] and not result.out), result
    assert result.status != 3 or "has ended" in said[0], result # its parent, this test, has not asked for it yet


def test_the_timeline_of_a_job_that_dies_meanwhile(vigil):
    job = vigil.start("run", "--name", "dies", "--", *workload("sleeper"))
    wait_for(lambda: vigil("timeline", "dies").status == 0)
    timer = threading.Timer(0.01, job.terminate)
    timer.start()
    for _ in range(10):
        result = vigil("timeline", "dies")
        assert result.status == 0 and json.loads(result.out)["traceEvents"], result
    timer.join()
    vigil.finish(job)


@pytest.fixture
def job(vigil):
    """A job that runs and was counted."""
    started = vigil.start("run", "--calls", "--name", "job", "--", sys.executable, "-u", "-c", SPIN)
    assert started.stdout.readline() == b"begun\n"
    calls = lambda: list(vigil.state.glob("jobs/*/attempt-0/calls/*.prof"))  # noqa: E731
    wait_for(calls, 20, "the first profile")
    yield "job"
    started.terminate()
    vigil.finish(started)


PLACES = {"no-folder": "No such file", "a-folder": "Is a directory", "full": "No space left", "read-only": "Read-only file system"}


@pytest.fixture
def place(request, tmp_path):
    """Where nothing can be written."""
    kind = request.param
    if kind == "no-folder":
        yield tmp_path / "no/such/folder/x"
    elif kind == "a-folder":
        (tmp_path / "folder").mkdir()
        yield tmp_path / "folder"
    elif kind == "full":
        path = tmp_path / "full"
        try:
            os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
            path.open("wb").close()
        except OSError as e:
            pytest.skip(f"no device can be made here: {e}")
        yield path
        assert stat.S_ISCHR(path.stat().st_mode), "a file has been put in the device's place"
    else:
        folder = tmp_path / "mounted"
        folder.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,size=64k", "tmpfs", folder], capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"cannot mount a tmpfs here: {done.stderr.strip()}")
        yield folder / "x"
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.parametrize("command", ["flame", "calls", "timeline"])
@pytest.mark.parametrize("place", PLACES, indirect=True)
def test_an_output_that_cannot_be_written(vigil, job, command, place, request):
    before = set(place.parent.iterdir()) if place.parent.exists() else None
    result = run(vigil, command, job, "-o", place)
    kind = request.node.callspec.params["place"]
    said = [line for line in result.text.splitlines() if "cannot write" in line]
    assert result.status == 1 and len(said) == 1 and PLACES[kind] in said[0] and str(place) in said[0], result
    assert before is None or set(place.parent.iterdir()) == before


@pytest.mark.parametrize("command", ["flame", "calls", "timeline"])
def test_a_link_is_written_through_and_never_replaced(vigil, job, command, tmp_path):
    """/dev/stdout is one, and as root a file could be put in its place."""
    target, link, stdout = tmp_path / "target", tmp_path / "link", tmp_path / "stdout"
    target.write_text("older")
    link.symlink_to(target)
    stdout.symlink_to("/proc/self/fd/1")
    result = run(vigil, command, job, "-o", link)
    assert result.status == 0 and link.is_symlink() and len(target.read_text()) > 10, result
    with open(tmp_path / "out", "wb") as out:
        result = run(vigil, command, job, "-o", stdout, stdout=out)
    assert result.status == 0 and stdout.is_symlink() and (tmp_path / "out").stat().st_size > 10, result
    assert sorted(f.name for f in tmp_path.iterdir() if not f.is_dir()) == ["link", "out", "stdout", "target"]


@pytest.mark.parametrize("command", ["flame", "calls", "timeline"])
def test_a_link_to_a_full_disk_stays(vigil, job, command, tmp_path, tiny_disk):
    disk = tiny_disk(4)
    link = tmp_path / "link"
    link.symlink_to(disk / "x")
    (disk / "x").touch()
    (disk / "rest").write_bytes(b"x" * 4096)
    result = run(vigil, command, job, "-o", link)
    assert result.status == 1 and "No space left" in result.text and link.is_symlink(), result


@commands
def test_a_full_disk_or_a_closed_stdout(vigil, job, command):
    with open("/dev/full", "wb") as full:
        result = run(vigil, command, job, stdout=full)
        assert result.status == 1 and "No space left" in result.text, result
    closed = vigil(command, job, *COMMANDS[command], prefix=["sh", "-c", 'exec "$@" >&-', "-"])
    assert closed.status == 1 and "Bad file descriptor" in closed.text, closed
    piped = vigil(command, job, *COMMANDS[command], prefix=["sh", "-c", '"$@" | true', "-"])
    assert piped.status == 0 and "cannot" not in piped.text, piped


def test_vigil_does_not_look_at_itself(vigil):
    shell = ["sh", "-c", 'pid=$$; vigil=$1; shift; $vigil "$@" $pid; exit $?', "-"]
    for command in LOOKS:
        result = vigil(command, *COMMANDS[command], "--json", prefix=shell)
        assert result.status == 0 and b"thread_main" not in result.out and b"main_of" not in result.out, result
        if command == "stack":
            assert [p["name"] for p in result.json()["processes"]] == ["sh"], result
