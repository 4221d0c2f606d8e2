"""vigil jobs --forget: what is old goes, what runs or is young stays."""
import json
import os
import sqlite3
import time

from conftest import wait_for


def folders(vigil):
    return sorted(p.name for p in (vigil.state / "jobs").iterdir())


def age(vigil, job, days):
    """As if the job had ended so many days ago."""
    with sqlite3.connect(vigil.state / "vigil.db") as db:
        db.execute("UPDATE job SET started_unix_ms=?1, ended_unix_ms=?1 WHERE id=?2", (int((time.time() - days * 86400) * 1000), job))


def names(vigil):
    return {json.loads(line)["id"] for line in vigil("jobs", "--json").out.splitlines()}


def test_old_jobs_go_with_all_that_they_left(vigil, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("mine")
    for name in ("old", "young"):
        assert vigil("run", "--name", name, "--", "sh", "-c", "echo hello; exit 3").status == 3
    old, young = (next(j for j in names(vigil) if j.startswith(n)) for n in ("old", "young"))
    os.symlink(outside, vigil.state / "jobs" / old / "link")
    running = vigil.start("run", "--name", "running", "--", "sleep", "60")
    live = wait_for(lambda: next((j for j in names(vigil) if j.startswith("running")), None))
    age(vigil, old, 40)
    age(vigil, live, 40)
    profile = vigil.state / "heap" / "pid-1-2"
    profile.mkdir(parents=True)
    (profile / "1.2.heap").write_bytes(b"x" * 8192)
    os.utime(profile, (1e9, 1e9))
    told = vigil("jobs", "--forget", "30d", "--json").json()
    assert (told["jobs"], told["kept"], told["profiles"]) == (1, 2, 1) and told["bytes"] >= 8192, told
    assert names(vigil) == {young, live} and folders(vigil) == sorted([young, live])
    assert (outside / "kept").read_text() == "mine" and not profile.exists()
    assert vigil("show", old).status == 4 and vigil("why", old).status == 4
    assert b"hello" in vigil("logs", young).out and running.poll() is None
    done = vigil("jobs", "--forget", "0")
    assert done.status == 0 and b"1 job that ended more than 0" in done.err, done
    assert names(vigil) == {live}


def test_where_nothing_is_nothing_is_forgotten(vigil):
    assert vigil("jobs", "--forget", "1d").status == 0
    done = vigil("jobs", "--forget", "soon")
    assert done.status == 2 and b"--forget" in done.err, done


def test_old_jobs_go_by_themselves_when_a_run_ends(vigil):
    keep = ("--keep-jobs-for", "30d", "--quiet")
    for name in ("old", "young"):
        assert vigil("run", "--name", name, *keep, "--", "sh", "-c", "exit 3").status == 3
    old, young = (next(j for j in names(vigil) if j.startswith(n)) for n in ("old", "young"))
    age(vigil, old, 40)
    # it has been looked through a moment ago, when the first one ended
    assert vigil("run", "--name", "soon", *keep, "--", "true").status == 0
    assert old in names(vigil)
    os.utime(vigil.state / "swept", (time.time() - 7200,) * 2)
    done = vigil("run", "--name", "later", *keep, "--", "true")
    assert done.status == 0 and not done.err.strip(), done
    assert old not in names(vigil) and old not in folders(vigil)
    assert young in names(vigil) and len(names(vigil)) == 3


def test_old_jobs_go_by_themselves_while_a_service_stays(vigil):
    """It does not end, and its jobs come and go for months."""
    assert vigil("run", "--name", "old", "--keep-jobs", "0", "--", "sh", "-c", "exit 3").status == 3
    old, = names(vigil)
    vigil.start("agent", "--command", "nothing-of-this-name", "--keep-jobs-for", "30d")
    wait_for((vigil.state / "swept").exists, 20, "the first look")
    assert old in names(vigil)
    age(vigil, old, 40)
    os.utime(vigil.state / "swept", (time.time() - 7200,) * 2)
    wait_for(lambda: old not in names(vigil), 60, "the next look")
    assert old not in folders(vigil)
