"""The stream of the page's server: live, shared, without gap and without duplicate for who was cut off."""
import json
import os
import signal
import sqlite3
import sys
import threading
import time

from conftest import wait_for
from test_web import STEPS
from webkit import Server, Stream, run_job


def event_numbers(vigil):
    return [json.loads(line)["seq"] for line in vigil("events", "--json").out.splitlines()]


def test_the_whole_state_then_what_changes(vigil):
    run_job(vigil, sys.executable, "-c", STEPS, args=("--nproc", "2"))
    server = Server(vigil)
    wait_for(lambda: server.get("/api/v1/jobs").json()["total"] == 1, 20, "the job")
    s = Stream(server, "?job=last")
    assert s.next("hello")["schema"] == "vigil.hello/1"
    seen = {}
    while len(seen) < 4:
        event, data = s.one()
        seen.setdefault(event, data)
    assert len(seen["jobs"]["jobs"]) == 1 and seen["health"]["schema"] == "vigil.health/1"
    assert [r["rank"] for r in seen["ranks"]["ranks"]] == [0, 1] or s.next("ranks", lambda d: d["total"] == 2)
    before = s.next("health", lambda d: "step" in d["sentence"])["sentence"]
    assert s.next("health")["sentence"] != before
    time_before = s.next("memory")["time_unix_ms"]
    assert s.next("memory")["time_unix_ms"] > time_before
    os.kill(server.get("/api/v1/jobs/last").json()["supervisor_pid"], signal.SIGTERM)
    assert s.next("event", lambda d: d["kind"] == "job_end")["severity"] == "info"
    assert s.next("health", lambda d: d["level"] == "died")
    s.close()


def test_who_was_cut_off_gets_each_event_once(vigil):
    assert vigil("run", "--name", "first", "--", "true").status == 0
    server = Server(vigil)
    s = Stream(server, "?topics=events")
    s.next("hello")
    place = s.last
    assert place == event_numbers(vigil)[-1]
    s.close()
    for i in range(3): # while nobody looks
        assert vigil("run", "--name", f"away{i}", "--", "true").status == 0
    s = Stream(server, "?topics=events", last=place)
    s.next("hello")
    missed = [n for n in event_numbers(vigil) if n > place]
    got = [s.next("event")["seq"] for _ in missed]
    assert got == missed and s.last == missed[-1]
    assert vigil("run", "--name", "live", "--", "true").status == 0
    more = [n for n in event_numbers(vigil) if n > missed[-1]]
    assert [s.next("event")["seq"] for _ in more] == more
    s.close()


def test_events_of_hundreds_catch_up_in_order_while_more_come(vigil):
    """A reader that comes back is behind by more than its queue holds, and new events come meanwhile."""
    assert vigil("run", "--name", "first", "--", "true").status == 0
    server = Server(vigil)
    db = sqlite3.connect(vigil.state / "vigil.db", timeout=20)
    with db:
        db.executemany("INSERT INTO event(time_unix_ms, job, attempt, kind, text, incident) VALUES(?, 'x', 0, 'profile', ?, '')",
                       [(i, "t" * 300) for i in range(700)])
    s = Stream(server, "?topics=events", last=1)
    s.next("hello")
    stop = threading.Event()

    def write():
        mine = sqlite3.connect(vigil.state / "vigil.db", timeout=20)
        for i in range(100):
            with mine:
                mine.execute("INSERT INTO event(time_unix_ms, job, attempt, kind, text, incident) VALUES(?, 'x', 0, 'profile', 'live', '')", (i,))
            if stop.wait(0.02):
                return
    writer = threading.Thread(target=write)
    writer.start()
    try:
        last = 1
        end = time.monotonic() + 60
        while last < 800 and time.monotonic() < end:
            seq = s.next("event")["seq"]
            assert seq == last + 1, "a gap or a duplicate"
            last = seq
        assert last >= 800
    finally:
        stop.set()
        writer.join()
    s.close()


def test_another_store_begins_with_its_first_event(vigil):
    assert vigil("run", "--name", "first", "--", "true").status == 0
    server = Server(vigil)
    s = Stream(server, "?topics=events")
    s.next("hello")
    for file in vigil.state.glob("vigil.db*"):
        file.unlink()
    assert vigil("run", "--name", "second", "--", "true").status == 0
    numbers = event_numbers(vigil)
    got = [s.next("event") for _ in numbers]
    assert [e["seq"] for e in got] == numbers and all(e["job"].startswith("second") for e in got)
    s.close()


def test_only_what_was_asked_for_comes(vigil):
    run_job(vigil, sys.executable, "-c", STEPS)
    server = Server(vigil)
    wait_for(lambda: server.get("/api/v1/jobs").json()["total"] == 1, 20, "the job")
    s = Stream(server, "?job=last&topics=health")
    assert [s.one()[0] for _ in range(4)] == ["hello", "health", "health", "health"]
    s.close()
    assert server.get("/api/v1/stream?topics=all").status == 400
    assert server.get("/api/v1/stream?job=nix").status == 404
    assert server.get("/api/v1/stream", token=False).status == 401


def test_a_thousand_streams_are_held(vigil):
    run_job(vigil, sys.executable, "-c", STEPS)
    server = Server(vigil)
    wait_for(lambda: server.get("/api/v1/jobs").json()["total"] == 1, 20, "the job")
    streams = [Stream(server, "?job=last&topics=health,events") for _ in range(1000)]
    try:
        for s in streams[::111]:
            s.next("hello")
            s.next("health", lambda d: "step" in d["sentence"], 60)
        assert server.get("/api/v1/me").status == 200
        assert server.is_small()
    finally:
        for s in streams:
            s.close()
    assert server.get("/api/v1/me").status == 200
