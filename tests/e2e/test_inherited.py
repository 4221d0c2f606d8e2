"""What whoever starts vigil has set for it, as sudo passes it on: it fails of none of that, and its job gets all of it back."""
import signal
import sqlite3

import pytest

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
    """Python itself ignores SIGPIPE and SIGXFSZ, so the kernel is asked."""
    said = job_says(vigil, ["env", "--default-signal"], "print(open('/proc/self/status').read().split('SigIgn:')[1].split()[0])")
    assert int(said, 16) & ~(1 << signal.SIGXFSZ - 1 | 1 << signal.SIGPIPE - 1) == 0


def test_a_limit_of_a_files_size(vigil):
    assert job_says(vigil, ["prlimit", "--fsize=0:0"], "ulimit -f") == "0"
    assert not vigil.strays()


def test_a_small_stack(vigil):
    assert job_says(vigil, ["prlimit", "--stack=65536:"], "ulimit -s") == "64"
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
