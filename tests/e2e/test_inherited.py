"""What whoever starts vigil has set for it, as sudo passes it on: it fails of none of that, and its job gets all of it back."""
import json
import os
import shutil
import sqlite3
import subprocess

import pytest

from conftest import wait_for

IGNORED = "import signal; print([s.name for s in signal.Signals if signal.getsignal(s) == signal.SIG_IGN])"


def job_says(vigil, prefix, program):
    command = ["/usr/bin/python3", "-S", "-c", f"{program}; raise SystemExit(3)"] if "print" in program else ["sh", "-c", f"{program}; exit 3"]
    result = vigil("run", "--name", "given", "--", *command, prefix=prefix, timeout=30)
    assert result.status == 3, result
    return result.out.decode().strip()


@pytest.mark.parametrize("name", ["CHLD", "XFSZ", "XCPU"])
def test_ignored_signals(vigil, name):
    assert f"'SIG{name}'" in job_says(vigil, ["env", f"--ignore-signal={name}"], IGNORED)
    assert vigil.why()["kind"]


def test_signals_that_are_not_ignored(vigil):
    """Python itself ignores SIGPIPE and SIGXFSZ, so the kernel is asked, of a job and of a program that vigil has not started."""
    program = "print(open('/proc/self/status').read().split('SigIgn:')[1].split()[0])"
    plain = subprocess.run(["env", "--default-signal", "/usr/bin/python3", "-S", "-c", program], capture_output=True, text=True, check=True)
    assert job_says(vigil, ["env", "--default-signal"], program) == plain.stdout.strip()


def test_a_limit_of_a_files_size(vigil):
    assert job_says(vigil, ["prlimit", "--fsize=0:0"], "ulimit -f") == "0"
    wait_for(lambda: not vigil.strays(), 20, "all of it to be gone")


def test_a_small_stack(vigil):
    assert job_says(vigil, ["prlimit", "--stack=65536:"], "ulimit -s") == "64"
    assert b"guard" not in vigil("events").out


def test_a_small_stack_that_root_of_a_container_may_not_raise(vigil):
    lesser = ["setpriv", "--bounding-set=-sys_resource"] if os.geteuid() == 0 else []
    assert job_says(vigil, [*lesser, "prlimit", "--stack=65536:65536"], "sleep 1; ulimit -s") == "64"
    assert b"guard" not in vigil("events").out


def closed(*numbers):
    return ["sh", "-c", 'exec "$@" ' + " ".join(f"{n}>&-" for n in numbers), "sh"]


@pytest.mark.parametrize("numbers", [[0], [1], [2], [0, 1], [1, 2], [0, 1, 2]], ids=lambda n: "".join(map(str, n)))
def test_closed_descriptors(vigil, numbers):
    """What is open there instead would be a file of vigil's, and its messages would go into it."""
    program = "import os, sys; os.write(1, b'told out\\n'); os.write(2, b'told err\\n'); sys.exit(3)"
    result = vigil("run", "--name", "closed", "--", "/usr/bin/python3", "-S", "-c", program, prefix=closed(*numbers))
    assert result.status == 3
    assert (b"told out" in result.out) == (1 not in numbers) and (b"told err" in result.err) == (2 not in numbers)
    assert vigil.log().read_bytes() == b"told out\n" and vigil.log(stream="err").read_bytes() == b"told err\n"
    with sqlite3.connect(vigil.state / "vigil.db") as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_what_cannot_be_written_is_a_failure(vigil):
    assert vigil("version", prefix=closed(1)).status != 0


def test_a_limit_of_open_files(vigil):
    assert job_says(vigil, ["prlimit", "--nofile=64:"], "ulimit -n") == "64"


def watched(vigil, tmp_path, limit, until):
    """Jobs of a service with so many open files; one that it has told of is killed. Who has ended as it says, and all that it says."""
    text = f"files-{os.getpid()}"
    program = tmp_path / f"sleep-{text}"
    shutil.copy("/bin/sleep", program)
    jobs = [subprocess.Popen([program, "300"]) for _ in range(12)]
    try:
        with open(tmp_path / "said", "w+") as said:
            agent = vigil.start("agent", "--command", text, "--hang-after", "0", prefix=["prlimit", f"--nofile={limit}"], stderr=said)
            telling = lambda word: [line for line in (tmp_path / "said").read_text().splitlines() if word in line]  # noqa: E731
            wait_for(lambda: until(telling), 60, "what is awaited of it")
            rows = wait_for(lambda: vigil("jobs", "--running", "--json").out.splitlines(), 30, "a job in the store")
            one = next(job for job in jobs if job.pid == json.loads(rows[0])["pid"])
            one.kill()
            one.wait(10)
            wait_for(lambda: telling("has ended"), 60, "the end of one")
            agent.terminate()
            vigil.finish(agent, 60)
            return telling("has ended"), (tmp_path / "said").read_text()
    finally:
        for job in jobs:
            job.kill()
            job.wait(10)


def test_a_service_has_the_descriptors_that_it_needs(vigil, tmp_path):
    ended, said = watched(vigil, tmp_path, "128:4096", lambda telling: len(telling("watching")) == 12)
    assert len(ended) == 1 and "Too many open files" not in said, said


def test_who_cannot_be_read_has_not_ended(vigil, tmp_path):
    """With too few for so many jobs not all is kept, which is told, and none is taken for one that has ended."""
    ended, said = watched(vigil, tmp_path, "128:128", lambda telling: telling("Too many open files"))
    assert len(ended) == 1 and "Too many open files" in said, said
