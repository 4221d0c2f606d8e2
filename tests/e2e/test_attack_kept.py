"""Root reads what a user's vigil kept of a job: its folder, the files in it, and where the store says that it lies."""
import os
import shutil
import sqlite3

import pytest

from strangerkit import ATTACKER, attacker, home, needs_root, place  # noqa: F401
from test_attack_state import theirs  # noqa: F401

pytestmark = needs_root
SECRET = b"a line that only root may read"
WAITS = 20


@pytest.fixture
def job(theirs):  # noqa: F811
    return next((theirs / "jobs").iterdir())


@pytest.fixture
def closed(place):  # noqa: F811
    """A folder of root's own, of the form that a job's has."""
    folder = place / "closed"
    folder.mkdir(mode=0o700)
    made = folder / "jobs/other/attempt-0"
    made.mkdir(parents=True)
    (made / "rank-0.out").write_bytes(SECRET + b"\n")
    (made / "rank-0.out").chmod(0o600)
    return made.parent


def said_in_store(state, folder):
    with sqlite3.connect(state / "vigil.db") as db:
        db.execute("UPDATE job SET log_dir=?", (str(folder),))
    db.close()
    for part in state.glob("vigil.db*"):
        os.chown(part, ATTACKER, ATTACKER)


def linked(name, to):
    shutil.rmtree(name)
    name.symlink_to(to)


WAYS = {
    "store": lambda state, job, closed: said_in_store(state, closed),
    "store, below a link": lambda state, job, closed: ((state / "to").symlink_to(closed.parents[1]),
                                                       said_in_store(state, state / "to/jobs" / closed.name)),
    "store, up": lambda state, job, closed: said_in_store(state, state / "jobs" / ("../" * 20 + str(closed)[1:])),
    "folders": lambda state, job, closed: (shutil.move(closed, closed.parent / job.name), linked(state / "jobs", closed.parent)),
    "job": lambda state, job, closed: linked(job, closed),
    "attempt": lambda state, job, closed: linked(job / "attempt-0", closed / "attempt-0"),
    "file": lambda state, job, closed: ((job / "attempt-0/rank-0.out").unlink(),
                                        (job / "attempt-0/rank-0.out").symlink_to(closed / "attempt-0/rank-0.out")),
}


@pytest.mark.parametrize("way", WAYS)
def test_root_shows_the_user_no_output_that_the_user_could_not_read(vigil, theirs, job, closed, home, way):  # noqa: F811
    WAYS[way](theirs, job, closed)
    shown = vigil("logs", job.name)
    assert SECRET not in shown.out + shown.err, shown
    page = home / "report.html"
    told = vigil("report", job.name, "-o", page)
    assert told.status == 0, told
    assert SECRET not in page.read_bytes()


FIFOS = [("attempt-0/rank-0.out", "logs"), ("attempt-0/rank-0.out", "report"), ("series", "timeline"), ("series", "show"),
         ("series", "report"), ("series", "jobs"), ("series", "ps"), ("series", "metrics"), ("wakers", "why"),
         ("../../unguarded", "jobs"), ("../../unguarded", "doctor"), ("attempt-0/heap", "heap"), ("attempt-0/calls/rank-0.prof", "calls"),
         ("attempt-0/calls/rank-0.json", "calls"), ("attempt-0/nccl/ring.0", "collectives")]


@pytest.mark.parametrize("who", ["root", "user"])
@pytest.mark.parametrize("name, word", FIFOS, ids=lambda x: x)
def test_nobody_waits_for_a_fifo(vigil, theirs, job, home, name, word, who):  # noqa: F811
    fifo = job / name
    fifo.parent.mkdir(exist_ok=True, parents=True)
    fifo.unlink(missing_ok=True)
    os.mkfifo(fifo)
    for path in (fifo.parent, fifo):
        os.chown(path, ATTACKER, ATTACKER)
    words = [word, *([] if word in ("jobs", "metrics", "doctor", "ps") else [job.name])]
    words += ["-o", home / "out"] if word in ("report", "timeline") else []
    how = {} if who == "root" else {"binary": home / "vigil", "user": ATTACKER, "group": ATTACKER, "extra_groups": [],
                                    "env": {"HOME": home}}
    ended = vigil(*words, timeout=WAITS, **how)
    assert ended.status in (0, 1, 3, 4, 5), ended
