"""Root looks at the state directory of a user, who may have put anything there under any name."""
import os
import shutil
import subprocess
import sys

import pytest

from conftest import wait_for
from strangerkit import ATTACKER, attacker, home, needs_root, place  # noqa: F401

pytestmark = needs_root
READERS = (["jobs"], ["why"], ["events"], ["ps"], ["jobs", "--forget", "1000d"])


@pytest.fixture
def theirs(vigil, binary, home):
    """The state of a user's own vigil, with one job."""
    program = home / "vigil"
    shutil.copy(binary, program)
    program.chmod(0o755)
    state = home / "state"
    subprocess.run(["setpriv", f"--reuid={ATTACKER}", f"--regid={ATTACKER}", "--clear-groups", program, "run", "--state", state, "--",
                    "true"], check=True, capture_output=True, env={"HOME": str(home), "PATH": os.environ["PATH"]})
    vigil.state = state
    return state


def owners(folder):
    return {p.name: p.lstat().st_uid for p in folder.rglob("*")}


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_root_reads_it_and_leaves_nothing_of_its_own(vigil, theirs, words):
    result = vigil(*words)
    assert result.status in (0, 1), result
    assert {ATTACKER} == set(owners(theirs).values())
    assert b"true" in vigil("jobs").out


@pytest.mark.parametrize("words", READERS, ids=" ".join)
@pytest.mark.parametrize("name", ["vigil.db-shm", "vigil.db-wal", "vigil.db.lock", "vigil.db.suspect"])
def test_nothing_is_made_where_the_user_could_make_nothing(vigil, theirs, place, name, words):
    """A link to a name in a folder of root's: what is made there may stop a machine's logins."""
    made = place / "closed"
    made.mkdir(mode=0o700)
    (theirs / name).unlink(missing_ok=True)
    (theirs / name).symlink_to(made / "new")
    (theirs / "vigil.db").write_bytes(b"not a database" * 400)
    os.chown(theirs / "vigil.db", ATTACKER, ATTACKER)
    vigil(*words)
    assert not list(made.iterdir())


CUTS = """
import os, sys
print("ready", flush=True)
while True:
    try:
        fd = os.open(sys.argv[1], os.O_RDWR)
        os.ftruncate(fd, 0)
        os.close(fd)
    except OSError:
        pass
"""


def test_an_index_that_is_cut_off_while_root_reads_it_is_told(vigil, theirs, attacker):
    """It is mapped; the kernel ends who reads behind its end, which left root with "Bus error" and a core file."""
    attacker(CUTS, theirs / "vigil.db-shm")
    ends = [vigil("jobs") for _ in range(40)]
    assert all(e.status in (0, 1) for e in ends), {e.status for e in ends}
    assert any(b"was cut off while it was read" in e.err for e in ends), ends[0]


def test_a_new_store_is_made_with_the_rights_of_the_user(vigil, theirs, place):
    made = place / "closed"
    made.mkdir(mode=0o700)
    for part in theirs.glob("vigil.db*"):
        part.unlink()
    (theirs / "vigil.db").symlink_to(made / "new")
    (theirs / "vigil.db.lock").symlink_to(made / "lock")
    rows = theirs / "unstored/x.rows"
    rows.write_bytes(b"x" * 100)
    os.chown(rows, ATTACKER, ATTACKER)
    vigil("jobs")
    vigil("jobs", "--forget", "1000d")
    assert not list(made.iterdir())
    assert rows.exists()


def test_a_note_in_it_frees_no_job_of_another_user(vigil, theirs, tmp_path):
    """The note of a job whose vigil is gone; the job is root's, and its vigil lives."""
    roots = tmp_path / "state"
    running = vigil.start("run", "--state", roots, "--memory-limit", "200M", "--", "sleep", "60")
    try:
        wait_for(lambda: list((roots / "watched").glob("*")) if (roots / "watched").exists() else [], what="the job's note")
        note = next((roots / "watched").glob("*"))
        (theirs / "watched").mkdir(exist_ok=True)
        copy = theirs / "watched" / note.name
        copy.write_bytes(note.read_bytes())  # root's own, as a hard link to one would be
        os.chown(theirs / "watched", ATTACKER, ATTACKER)
        said = vigil("jobs").err
        assert note.name.encode() not in said
        assert copy.exists()
    finally:
        running.terminate()
        running.wait(20)


def test_forgetting_removes_nothing_behind_a_link(vigil, theirs, place):
    """What root's own vigil keeps for the user lies below such a name."""
    job = next((theirs / "jobs").iterdir()).name
    kept = place / f"roots/{ATTACKER}/jobs/{job}"
    kept.mkdir(parents=True)
    (kept / "report.txt").write_text("root's")
    (theirs / "users").symlink_to(place / "roots")
    vigil("jobs", "--forget", "0s")
    assert (kept / "report.txt").exists()


@pytest.mark.parametrize("words", (["run", "--", "true"], ["map", "echo", ":::", "a"]), ids=" ".join)
def test_root_is_told_that_a_user_can_change_what_it_writes(vigil, theirs, place, words):
    told = vigil(*words)
    assert told.status == 0 and f"user {ATTACKER} can change".encode() in told.err, told
    vigil.state = place / "roots"
    told = vigil(*words)
    assert told.status == 0 and b"can change" not in told.err, told


COMPUTES = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
columns = [row[1] for row in db.execute("PRAGMA table_info(job)")]
db.execute("ALTER TABLE job RENAME TO former")
if sys.argv[2] == "endless":
    db.execute("CREATE VIEW job AS WITH RECURSIVE k(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM k) SELECT "
               + ", ".join(f"former.{c}" for c in columns) + " FROM former, k")
else:
    large = " TEXT AS (printf('%.400000000c', 'x'))"
    db.execute("CREATE TABLE job (" + ", ".join(c + (large if c == "name" else "") for c in columns) + ")")
    rest = ", ".join(c for c in columns if c != "name")
    db.execute(f"INSERT INTO job ({rest}) SELECT {rest} FROM former")
db.commit()
"""


@pytest.mark.parametrize("way,word", [("endless", "jobs"), ("endless", "ps"), ("endless", "show"), ("large", "jobs")])
def test_a_store_that_computes_is_not_computed(vigil, theirs, way, word):
    """Its table of jobs is a question without an end, or has a name of 400 MB that is made when it is read."""
    subprocess.run([sys.executable, "-c", COMPUTES, theirs / "vigil.db", way], check=True)
    asked = vigil.start(word, prefix=["timeout", "20"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(asked.pid, 0)
    asked.returncode = os.waitstatus_to_exitcode(status)
    assert asked.returncode not in (124, 137) and used.ru_maxrss < 200_000, (asked.returncode, used)
