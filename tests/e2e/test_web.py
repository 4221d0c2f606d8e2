"""Every route of the page's server on a live job, its answers held against docs/formats/openapi.json."""
import contextlib
import gzip
import json
import marshal
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from conftest import wait_for
from webkit import OPENAPI, Server, Stream, check, run_job

STEPS = """
import sys, time
for i in range(100000):
    print(f"step {i}/100000", flush=True)
    if i % 7 == 0:
        print(f"warning {i}", file=sys.stderr, flush=True)
    time.sleep(0.05)
"""


LEAKS = """
import time
keep = []
def leaky():
    keep.append(bytearray(400000))
for i in range(1000000):
    leaky()
    print(f"step {i}", flush=True)
    time.sleep(0.02)
"""


@pytest.fixture
def job(vigil):
    """(server, id of a job of two ranks that prints steps)"""
    run_job(vigil, sys.executable, "-c", STEPS, args=("--nproc", "2"))
    server = Server(vigil)

    def begun():
        jobs = server.get("/api/v1/jobs").json()["jobs"]
        if not jobs:
            return None
        ranks = server.get(f"/api/v1/jobs/{jobs[0]['id']}/ranks").json()["ranks"]
        return jobs[0]["id"] if len(ranks) == 2 and all("own_bytes" in r for r in ranks) else None
    return server, wait_for(begun, 30, "the job's ranks to be looked at")


def test_what_is_read_of_a_job(vigil, job):
    server, id = job
    A, B = "/api/v1/jobs/{job}", f"/api/v1/jobs/{id}"
    me = check(server.get("/api/v1/me"), "/api/v1/me").json()
    assert me["role"] == "admin" and abs(me["now_unix_ms"] - time.time() * 1000) < 60000
    shown = check(server.get(B), A).json()
    told = vigil("show", id, "--json").json()
    for name in ("id", "command", "nproc", "started_unix_ms", "state", "pid"):
        assert shown[name] == told[name]
    wait_for(lambda: server.get(B).json()["health"]["level"] == "well", 30, "steps to be seen")
    assert "of 100000" in server.get(B).json()["health"]["sentence"]
    ranks = check(server.get(f"{B}/ranks"), A + "/ranks").json()
    assert [r["rank"] for r in ranks["ranks"]] == [0, 1] and ranks["total"] == 2
    assert all(r["state"] in ("running", "working", "waiting") for r in ranks["ranks"])
    assert [r["rank"] for r in server.get(f"{B}/ranks?from=1&limit=1").json()["ranks"]] == [1]
    assert check(server.get(f"{B}/ranks?grid_over=2"), A + "/ranks").json().keys() == ranks.keys()
    grid = check(server.get(f"{B}/ranks?grid_over=1"), A + "/ranks").json()
    assert grid["ranks"] == [] and grid["total"] == 2 and grid["grid"]["ranks"] == [[0, 1]] and grid["grid"]["culprits"] == []
    assert len(grid["grid"]["states"]) == 2 and set(grid["grid"]["states"]) <= set("RSD")
    assert server.get(f"{B}/ranks?grid_over=1&from=1").json()["grid"]["ranks"] == [[1, 1]]
    assert server.get(f"{B}/ranks?grid_over=1&from=2").json()["grid"] == {"ranks": [], "states": "", "culprits": []}
    assert server.get(f"{B}/ranks?grid_over=x").status == 400
    processes = check(server.get(f"{B}/processes"), A + "/processes").json()["processes"]
    assert {r["pid"] for r in ranks["ranks"]} <= {p["pid"] for p in processes if p["running"]}
    memory = check(server.get(f"{B}/memory?points=50"), A + "/memory").json()
    assert all(len(s["own"]) == len(memory["times"]) for s in memory["series"])
    assert any(s.get("rank") == 1 and max(s["own"]) > 1000000 for s in memory["series"])
    for what in ("cpu", "io", "step", "gpu"):
        series = check(server.get(f"{B}/series?what={what}"), A + "/series").json()
        assert all(len(s["values"]) == len(series["times"]) for s in series["series"])
    events = check(server.get(f"{B}/events"), A + "/events").json()["events"]
    assert [e["kind"] for e in events] == ["job_start"]
    check(server.get(f"{B}/incidents"), A + "/incidents")
    check(server.get(f"{B}/at?time={int(time.time() * 1000)}"), A + "/at")
    check(server.get("/api/v1/events?order=desc&limit=1"), "/api/v1/events")
    newest = server.get("/api/v1/events?order=desc&limit=1").json()
    assert newest["newest"] == newest["events"][0]["seq"]


def test_steps_a_second_have_no_peak_at_the_end_of_a_job(vigil):
    """The last look comes right behind the one before it."""
    paced = "import time\nbegan = time.monotonic()\nfor i in range(160):\n    print(f'step {i}/160', flush=True)\n" \
            "    time.sleep(max(0, began + (i + 1) / 20 - time.monotonic()))"
    assert vigil("run", "--", sys.executable, "-c", paced).status == 0
    server = Server(vigil)
    id = server.get("/api/v1/jobs").json()["jobs"][0]["id"]
    [rates] = server.get(f"/api/v1/jobs/{id}/series?what=step").json()["series"]
    known = [r for r in rates["values"] if r is not None]
    assert known and max(known) < 60, f"20 a second: {known}"


FREES = """
import time
for turn in range(3):
    held = bytearray(300 << 20)
    held[::4096] = bytes(len(held[::4096])).replace(b"\\0", b"1")
    time.sleep(2.5)
    del held
    time.sleep(2.5)
"""


def test_what_a_job_gives_back_is_not_said_to_be_shared(vigil):
    """The group's counter and the sizes of the processes are of one instant, also right after a lot was freed."""
    assert vigil("run", "--", sys.executable, "-c", FREES).status == 0
    server = Server(vigil)
    id = server.get("/api/v1/jobs").json()["jobs"][0]["id"]
    memory = server.get(f"/api/v1/jobs/{id}/memory?points=600").json()
    own = [sum(v or 0 for v in values) for values in zip(*(s["own"] for s in memory["series"]))]
    assert max(own) > 250 << 20 > min(own[1:]) + (150 << 20), own
    assert max(v or 0 for v in memory["shared"]) < 100 << 20, list(zip(own, memory["shared"], memory["job_bytes"]))


def test_what_children_answer(vigil, job):
    server, id = job
    A, B = "/api/v1/jobs/{job}", f"/api/v1/jobs/{id}"
    stacks = check(server.get(f"{B}/stacks"), A + "/stacks").json()
    assert any("<module>" in f["name"] for p in stacks["processes"] for t in p["threads"] for f in t["frames"])
    check(server.get(f"{B}/waits"), A + "/waits")
    trace = check(server.get(f"{B}/timeline"), A + "/timeline").json()
    assert trace["otherData"]["job"] == id
    check(server.get("/api/v1/doctor"), "/api/v1/doctor")
    check(server.get("/api/v1/node"), "/api/v1/node")
    pid = server.get(f"{B}/ranks").json()["ranks"][0]["pid"]
    text = server.get(f"/worker/traceback?pid={pid}")
    assert text.status == 200 and b"<module>" in text.body and text.headers["Content-Type"].startswith("text/plain")
    raw = server.get(f"/worker/cpu_profile?pid={pid}&duration=1&format=raw")
    assert raw.status == 200 and b"<module>" in raw.body
    svg = server.get(f"/worker/cpu_profile?pid={pid}&duration=1")
    assert svg.status == 200 and b"<svg" in svg.body and svg.headers["Content-Type"] == "image/svg+xml"
    assert server.get("/worker/traceback?pid=1").status == 403
    task = server.get("/task/traceback?task_id=ab&attempt_number=0&node_id=cd")
    assert task.status == 404 and "/worker/traceback" in task.json()["text"]
    assert server.get("/worker/traceback?pid=x").status == 400
    assert server.get(f"/worker/traceback?pid={pid}&ip=10.0.0.1").status == 400


def test_rays_memory_profile_of_a_process_without_a_profile(vigil):
    run_job(vigil, sys.executable, "-c", LEAKS)
    server = Server(vigil)
    pid = wait_for(lambda: next((p["pid"] for j in server.get("/api/v1/jobs").json()["jobs"] for p in
                                 server.get(f"/api/v1/jobs/{j['id']}/ranks").json()["ranks"]), None), 30, "the rank")
    ask = f"/memory_profile?pid={pid}&duration=1&format=table"
    grown = server.get(ask)
    assert grown.status == 200 and b"touched for the first time" in grown.body, grown.body
    for _ in range(2):  # the second finds the library there
        held = server.get(ask + "&leaks=1")
        assert held.status == 200 and b"leaky" in held.body and b"is held at its end" in held.body, held.body
    assert b"nothing is sampled any more" in vigil("heap", pid).out
    page = server.get(f"/memory_profile?pid={pid}&duration=1&leaks=1")
    assert page.status == 200 and page.headers["Content-Type"].startswith("text/html") and b"leaky" in page.body
    assert server.get(ask + "&leaks=2").status == 400


def test_a_profile_from_its_start_to_its_end(vigil, job):
    server, id = job
    P = "/api/v1/profiles"
    begun = check(server.post(P, {"kind": "flame", "job": id, "seconds": 1, "idle": True}), P, "post", 202).json()
    assert begun["state"] == "running"
    one = f"{P}/{begun['id']}"
    assert server.get(f"{one}/data").status == 409
    done = wait_for(lambda: (o := server.get(one).json())["state"] != "running" and o, 30, "the profile")
    assert done["state"] == "done" and done["bytes"] > 0 and 1 <= done["lasted_s"] < 30, done
    assert "lasted_s" not in begun
    check(server.get(one), P + "/{profile}")
    assert server.get(f"{one}/data").json()["schema"] == "vigil.flame/1"
    for form, has in (("speedscope", b"speedscope"), ("folded", b"<module>"), ("svg", b"<svg")):
        answer = server.get(f"{one}/data?format={form}")
        assert answer.status == 200 and has in answer.body, answer
    assert server.get(f"{one}/data?format=../x").status == 400
    long = server.post(P, {"kind": "flame", "job": id, "seconds": 600}).json()
    assert server.ask("DELETE", f"{P}/{long['id']}").status == 204
    wait_for(lambda: server.get(f"{P}/{long['id']}").json()["state"] == "cancelled", 20, "the profile to be cancelled")
    listed = check(server.get(f"{P}?job={id}"), P).json()["profiles"]
    assert {p["id"] for p in listed} == {begun["id"], long["id"]}
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(20) == 0
    again = Server(vigil)
    assert again.get(one).json()["state"] == "done"
    assert again.ask("DELETE", one).status == 204
    assert again.get(one).status == 404


def test_every_kind_of_profile_in_every_form_of_its_command(vigil):
    # enough memory that a sample of it is sure, asked for in the place that is looked for
    run_job(vigil, sys.executable, "-c", "kept = bytearray(64 << 20)" + STEPS, args=("--heap", "--calls"))
    server = Server(vigil)
    id = wait_for(lambda: (jobs := server.get("/api/v1/jobs").json()["jobs"]) and jobs[0]["id"], 30, "the job")
    wait_for(lambda: b"time.sleep" in vigil("calls", id).out, 30, "calls to be counted")
    pid = wait_for(lambda: (r := server.get(f"/api/v1/jobs/{id}/ranks").json()["ranks"]) and r[0].get("pid"), 30, "a rank")
    P = "/api/v1/profiles"
    has = {"json": b'"vigil.', "speedscope": b"speedscope.app", "folded": b"<module>", "svg": b"<svg", "html": b"<html", "table": b"time.sleep"}
    types = {"pprof": "application/octet-stream", "pstats": "application/octet-stream", "svg": "image/svg+xml"}
    stacks = ["json", "speedscope", "folded", "svg", "pprof", "html"]
    for kind, formats in (("stack", stacks), ("heap", stacks), ("calls", ["json", "pstats", "html", "table"])):
        begun = check(server.post(P, {"kind": kind, "job": id, **({"pid": pid} if kind == "stack" else {})}), P, "post", 202).json()
        one = f"{P}/{begun['id']}"
        done = wait_for(lambda: (o := server.get(one).json())["state"] != "running" and o, 60, f"the {kind}")
        assert done["state"] == "done" and done["formats"] == formats, done
        for form in formats:
            answer = server.get(f"{one}/data?format={form}")
            assert answer.status == 200 and has.get(form, b"") in answer.body, (kind, form, answer)
            assert form not in types or answer.headers["content-type"] == types[form]
            assert "attachment" in answer.headers["content-disposition"]
            if form == "pprof":
                assert b"<module>" in gzip.decompress(answer.body)
            if form == "pstats":
                counted = {name: numbers for (_, _, name), numbers in marshal.loads(answer.body).items()}
                assert counted["<built-in method time.sleep>"][1] >= 1
        assert server.get(f"{one}/data?format={'svg' if kind == 'calls' else 'pstats'}").status == 400


def test_the_one_process_of_a_job_is_shown_after_its_end(vigil):
    assert vigil("run", "--name", "one", "--", sys.executable, "-c", "raise SystemExit(3)").status == 3
    told = check(Server(vigil).get("/api/v1/jobs/one/ranks"), "/api/v1/jobs/{job}/ranks").json()
    assert [(r["state"], r["exit_code"]) for r in told["ranks"]] == [("ended", 3)], told


def test_a_grid_tells_which_ranks_ended_badly(vigil):
    fails = "import os, sys; sys.exit(3 if os.environ['RANK'] == '1' else 0)"
    assert vigil("run", "--name", "some", "--nproc", "3", "--", sys.executable, "-c", fails).status != 0
    server = Server(vigil)
    rows = server.get("/api/v1/jobs/some/ranks").json()["ranks"]
    grid = check(server.get("/api/v1/jobs/some/ranks?grid_over=0"), "/api/v1/jobs/{job}/ranks").json()["grid"]
    assert [r for first, last in grid["ranks"] for r in range(first, last + 1)] == [r["rank"] for r in rows] and "x" in grid["states"], (grid, rows)
    badly = lambda r: "v" if r.get("ended_for") else "x" if r.get("signal") or r.get("exit_code") else "e"
    assert grid["states"] == "".join(map(badly, rows)), (grid, rows)
    assert grid["culprits"] == [r["rank"] for r in rows if r["culprit"]]


FEEDS = """
import multiprocessing, time
def feed(queue):
    while True:
        queue.put(b"x" * 1000)
        time.sleep(0.05)
if __name__ == "__main__":
    queue = multiprocessing.Queue(4)
    multiprocessing.Process(target=feed, args=(queue,)).start()
    for i in range(100000):
        queue.get()
        print(f"step {i}/100000", flush=True)
"""


def test_a_worker_is_listed_looked_into_and_ended(vigil, tmp_path):
    program = tmp_path / "feeds.py"
    program.write_text(FEEDS)
    run_job(vigil, sys.executable, str(program))
    server = Server(vigil)
    A, B, P = "/api/v1/jobs/{job}", "/api/v1/jobs/last", "/api/v1/profiles"
    wait_for(lambda: server.get("/api/v1/jobs").json()["total"] == 1, 20, "the job")

    def workers():
        rows = check(server.get(f"{B}/processes?all=1"), A + "/processes").json()["processes"]
        return [p for p in rows if p["role"] == "worker" and p["running"]]
    worker = wait_for(workers, 30, "the worker to be listed")[0]
    assert worker["own_bytes"] > 0 and "feeds.py" in worker["command"]
    assert all(p["role"] == "main" for p in server.get(f"{B}/processes").json()["processes"])
    job = worker["job"]

    def looked_into():
        answer = server.post(P, {"kind": "stack", "job": job, "pid": worker["pid"]})
        assert answer.status in (202, 404), answer  # 404 until the supervisor's next look has seen it
        return answer.json() if answer.status == 202 else None
    profile = f"{P}/{wait_for(looked_into, 30, 'the worker to be known')['id']}"
    done = wait_for(lambda: (o := server.get(profile).json())["state"] != "running" and o, 30, "its stack")
    assert done["state"] == "done" and b"feed" in server.get(f"{profile}/data").body
    assert b"feed" in server.get(f"/worker/traceback?pid={worker['pid']}").body
    stranger = os.getpid()
    assert server.post(P, {"kind": "stack", "job": job, "pid": stranger}).status == 404
    assert server.post(f"{B}/signal", {"pid": stranger, "signal": "KILL"}).status == 404
    ended = {"pid": worker["pid"], "signal": "KILL"}
    refused = server.post(f"{B}/signal", {**ended, "start_ticks": worker["start_ticks"] - 1})
    assert refused.status == 409 and workers(), refused  # one that had the number before
    assert server.post(f"{B}/signal", {**ended, "start_ticks": worker["start_ticks"]}).status == 204
    wait_for(lambda: not workers(), 20, "the worker to be gone")
    assert [e["kind"] for e in server.get(f"{B}/events?kind=signal").json()["events"]] == ["signal"]
    assert server.post(P, {"kind": "stack", "job": job, "pid": worker["pid"]}).status == 404


def test_a_child_is_below_the_job_once_it_has_taken_long(vigil, job):
    """Whoever waits for a short answer on a busy machine would wait many times as long for a process of a low priority."""
    server, id = job
    made = server.post("/api/v1/profiles", {"kind": "flame", "job": id, "seconds": 300, "rate": 500})
    assert made.status == 202, made.body
    own, seen = psutil.Process(server.pid).nice(), []

    def is_below():
        for child in psutil.Process(server.pid).children():
            with contextlib.suppress(psutil.Error):
                if "flame" in child.cmdline():
                    seen.append(child.nice())
        return seen and seen[-1] == max(own, 5)
    wait_for(is_below, 60, "a lower priority")
    assert seen[0] == own, f"at first it has that of the server: {seen}"


def test_at_most_four_profiles_and_none_outlives_the_server(vigil, job):
    server, id = job
    for _ in range(4):
        assert server.post("/api/v1/profiles", {"kind": "flame", "job": id, "seconds": 600}).status == 202
    assert server.post("/api/v1/profiles", {"kind": "flame", "job": id}).status == 429

    def recorders():
        found = [p for p in vigil.strays() if "flame" in p.cmdline() and p.ppid() == server.pid]
        assert len(found) <= 4
        return found if len(found) == 4 else None
    children = wait_for(recorders, 20, "four profiles to have begun")
    server.process.kill()
    server.process.wait(10)
    wait_for(lambda: not any(p.is_running() and p.status() != "zombie" for p in children), 20, "the children to end")


def test_output_in_parts_searched_and_downloaded(vigil, job):
    server, id = job
    B = f"/api/v1/jobs/{id}/logs"
    files = check(server.get(B), "/api/v1/jobs/{job}/logs").json()["files"]
    assert {(f["rank"], f["stream"]) for f in files} == {(r, s) for r in (0, 1) for s in ("stdout", "stderr")}
    out = next(f["id"] for f in files if f["rank"] == 1 and f["stream"] == "stdout")
    wait_for(lambda: server.get(f"{B}/{out}").json()["size"] > 500, 30, "some output")
    kept = vigil.log(rank=1).read_bytes()
    lines, at = [], 0
    while at < 300:
        part = check(server.get(f"{B}/{out}?offset={at}&limit=100"), "/api/v1/jobs/{job}/logs/{file}").json()
        assert part["offset"] == at and part["next"] > at
        lines += part["lines"]
        at = part["next"]
    for line in lines:
        text = line["text"].encode()
        assert kept[line["at"]:line["at"] + len(text) + 1] == text + b"\n"
    assert [x["text"] for x in lines] == kept[:at].decode().splitlines()
    end = server.get(f"{B}/{out}?offset=-60").json()
    assert end["lines"] and all(x["text"].startswith("step ") for x in end["lines"])
    found = server.get(f"{B}/{out}?search=STEP%207/").json()
    assert [x["text"] for x in found["lines"]] == ["step 7/100000"]
    back = server.get(f"{B}/{out}?search=step&direction=back").json()["lines"]
    assert back[0]["at"] > back[-1]["at"]
    whole = server.get(f"{B}/{out}?download=1")
    assert whole.body.startswith(kept) and "attachment" in whole.headers["Content-Disposition"]
    for bad in ("0-9-out", "9-0-out", "..", "0-0-out%00", "x", "0-0-log", "-1-0-out"):
        assert server.get(f"{B}/{bad}").status in (400, 404), bad


def test_a_signal_reaches_a_rank_and_is_noted(vigil, job):
    server, id = job
    B = f"/api/v1/jobs/{id}/signal"
    assert server.post(B, {"rank": 1, "signal": "HUP"}).status == 400
    assert server.post(B, {"rank": 1, "pid": 1, "signal": "KILL"}).status == 400
    assert server.post(B, {"pid": 1, "signal": "KILL"}).status == 404
    main = next(p for p in server.get(f"/api/v1/jobs/{id}/processes").json()["processes"] if p["rank"] == 1)
    known = {"rank": 1, "signal": "KILL", "start_ticks": main["start_ticks"]}
    assert server.post(B, {**known, "start_ticks": main["start_ticks"] - 1}).status == 409
    assert server.post(B, known).status == 204
    wait_for(lambda: server.get(f"/api/v1/jobs/{id}").json()["state"] == "failed", 30, "the job to end")
    assert any(e["kind"] == "signal" and "from the page" in e["text"] for e in server.get(f"/api/v1/jobs/{id}/events").json()["events"])
    health = server.get(f"/api/v1/jobs/{id}").json()["health"]
    assert health["level"] == "died" and health["incident"]
    report = check(server.get(f"/api/v1/incidents/{health['incident']}"), "/api/v1/incidents/{incident}").json()
    assert report == vigil.why(id) | {"ended": report.get("ended")} if "ended" in report else report["id"] == vigil.why(id)["id"]
    file = server.get(f"/api/v1/incidents/{health['incident']}?format=text&download=1")
    assert file.headers["Content-Type"].startswith("text/plain") and f"{health['incident']}.txt" in file.headers["Content-Disposition"]
    assert file.body.decode().splitlines()[:3] == vigil("why", health["incident"]).out.decode().splitlines()[:3]
    file = server.get(f"/api/v1/incidents/{health['incident']}?download=1")
    assert file.json() == report and f"{health['incident']}.json" in file.headers["Content-Disposition"]
    assert server.get(f"/api/v1/incidents/{health['incident']}?format=html").status == 400
    assert server.get(f"/api/v1/jobs/{id}/stacks").status == 409
    assert server.post("/api/v1/profiles", {"kind": "flame", "job": id}).status == 409


@pytest.mark.parametrize("name, handled", [("TERM", False), ("TERM", True), ("KILL", False)])
def test_a_signal_of_the_page_is_told_as_the_user_s(vigil, name, handled):
    """Not as a stranger's, whether it ended the rank at once or the rank left because of it. And nothing is tried again."""
    leave = "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n" if handled else ""
    run_job(vigil, sys.executable, "-c", leave + STEPS, args=("--nproc", "2", "--retries", "2", "--retry-on", "any", "--backoff", "100ms"))
    server = Server(vigil)

    def steps():
        jobs = server.get("/api/v1/jobs").json()["jobs"]
        return jobs[0]["id"] if jobs and b"step 3" in vigil("logs", jobs[0]["id"], "--rank", "1").out else None
    id = wait_for(steps, 30, "steps of the rank")
    assert server.post(f"/api/v1/jobs/{id}/signal", {"rank": 1, "signal": name}).status == 204
    wait_for(lambda: server.get(f"/api/v1/jobs/{id}").json()["state"] == "failed", 30, "the job to end")
    report, job = vigil.why(id), server.get(f"/api/v1/jobs/{id}").json()
    told = vigil("why", id).out.decode()
    assert report["cause"]["id"] == "asked_from_page" and report["victim"]["rank"] == 1, report
    assert job["attempt"] == 0 and report["retry"]["next"] == "none" and "asked to end" in report["retry"]["reason"], report["retry"]
    assert "vigil's page" in report["summary"] and f"SIG{name}" in report["summary"], report["summary"]
    assert told.startswith("stopped on request") and "someone else" not in told, told
    assert job["health"]["stopped"], job["health"]
    told_as_stopped(vigil, server, id)
    assert f"SIG{name} was sent to rank 1" in vigil("events", id).out.decode()


@pytest.mark.parametrize("name", ["TERM", "KILL"])
def test_a_signal_of_the_page_is_the_user_s_while_the_store_is_busy(vigil, state, name):
    """Whoever finds out why the rank died knows of it all the same, and its event comes once the store takes it."""
    leave = "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
    run_job(vigil, sys.executable, "-c", leave + STEPS, args=("--retries", "2", "--retry-on", "any", "--backoff", "100ms"))
    server = Server(vigil)

    def steps():
        jobs = server.get("/api/v1/jobs").json()["jobs"]
        return jobs[0] if jobs and b"step 3" in vigil("logs", jobs[0]["id"]).out else None
    job = wait_for(steps, 30, "steps of the job")
    id = job["id"]
    with contextlib.closing(sqlite3.connect(state / "vigil.db", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        assert server.post(f"/api/v1/jobs/{id}/signal", {"pid": job["pid"], "signal": name}).status == 204
        wait_for(lambda: not os.path.exists(f"/proc/{job['pid']}"), 10, "the rank to end")
        db.execute("ROLLBACK")
    wait_for(lambda: server.get(f"/api/v1/jobs/{id}").json()["state"] == "failed", 30, "the job to end")
    report = vigil.why(id)
    assert report["cause"]["id"] == "asked_from_page" and server.get(f"/api/v1/jobs/{id}").json()["attempt"] == 0, report
    wait_for(lambda: f"SIG{name} was sent to".encode() in vigil("events", id).out, 10, "the event")


def told_as_stopped(vigil, server, id):
    """A stop that a person asked for is told as one everywhere; the state and the exit status stay what they are."""
    ranks = server.get(f"/api/v1/jobs/{id}/ranks").json()["ranks"]
    assert [r.get("ended_for") for r in ranks] == ["stop"] * len(ranks), ranks
    row = next(line for line in vigil("jobs").out.decode().splitlines() if id in line)
    assert "stopped" in row and "failed" not in row, row
    for told in (vigil("jobs", "--json"), vigil("show", id, "--json")):
        job = next(j for j in map(json.loads, told.out.splitlines()) if j.get("id") == id)
        assert job["stopped"] and job["state"] == "failed" and job["exit_status"] > 0, job
    assert "  stopped\n" in vigil("show", id).out.decode()
    assert server.get("/api/v1/jobs").json()["jobs"][0]["stopped"]


def test_ranks_that_vigil_ended_are_told_as_such(vigil):
    """Not as ranks that ended badly themselves."""
    bad = "import os, sys, time\nif os.environ['RANK'] == '1':\n    time.sleep(1); sys.exit(3)\ntime.sleep(600)"
    vigil("run", "--nproc", "3", "--", sys.executable, "-c", bad)
    server = Server(vigil)
    id = server.get("/api/v1/jobs").json()["jobs"][0]["id"]
    ranks = check(server.get(f"/api/v1/jobs/{id}/ranks"), "/api/v1/jobs/{job}/ranks").json()["ranks"]
    assert [r.get("ended_for") for r in ranks] == ["rank_failed", None, "rank_failed"], ranks
    grid = check(server.get(f"/api/v1/jobs/{id}/ranks?grid_over=1"), "/api/v1/jobs/{job}/ranks").json()["grid"]
    assert grid["states"] == "vxv", grid
    check(server.get(f"/api/v1/jobs/{id}/processes"), "/api/v1/jobs/{job}/processes")
    for told in (vigil("show", id).out.decode(), vigil("ps", id).out.decode()):
        assert "exit 3" in told and "by vigil: 2 processes ended by vigil, as another rank failed." in told, told


def test_a_hang_that_vigil_ended_is_told_so(vigil):
    stuck = "import threading, time\nfor i in range(30):\n    print('step', i, flush=True); time.sleep(0.1)\n" \
            "lock = threading.Lock()\nwith lock:\n    lock.acquire()"
    assert vigil("run", "--hang-after", "4s", "--on-hang", "kill", "--", sys.executable, "-c", stuck, timeout=120).status != 0
    server = Server(vigil)
    id = server.get("/api/v1/jobs").json()["jobs"][0]["id"]
    said = json.dumps(server.get(f"/api/v1/jobs/{id}").json())
    assert "had been standing still" in said and "when vigil ended it (--on-hang kill)" in said, said


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM])
def test_ranks_of_a_run_that_was_stopped_are_told_as_such(vigil, job, name):
    server, id = job
    os.kill(server.get(f"/api/v1/jobs/{id}").json()["supervisor_pid"], name)
    wait_for(lambda: server.get(f"/api/v1/jobs/{id}").json()["state"] == "failed", 30, "the job to end")
    assert [r.get("ended_for") for r in server.get(f"/api/v1/jobs/{id}/ranks").json()["ranks"]] == ["stop", "stop"]
    assert "a rank failed" not in vigil("events", id).out.decode()
    told_as_stopped(vigil, server, id)


def test_jobs_and_events_by_pages(vigil):
    ids = []
    for i in range(5):
        assert vigil("run", "--name", f"j{i}", "--", "true").status == 0
    server = Server(vigil)
    target = "/api/v1/jobs?limit=2"
    while target:
        page = check(server.get(target), "/api/v1/jobs").json()
        assert page["total"] == 5 and len(page["jobs"]) <= 2
        ids += [j["name"] for j in page["jobs"]]
        target = f"/api/v1/jobs?limit=2&before={page['next']}" if "next" in page else None
    assert ids == ["j4", "j3", "j2", "j1", "j0"]
    assert server.get("/api/v1/jobs?running=1").json()["jobs"] == []
    assert len(server.get("/api/v1/jobs?running=0").json()["jobs"]) == 5
    assert all(j["health"]["level"] == "ended" for j in server.get("/api/v1/jobs").json()["jobs"])
    forward, at = [], 0
    while True:
        page = server.get(f"/api/v1/events?limit=3&after={at}").json()
        forward += [e["seq"] for e in page["events"]]
        at = page["next"]
        if not page["more"]:
            break
    assert forward == [e["seq"] for e in map(json.loads, vigil("events", "--json").out.splitlines())]
    backward, target = [], "/api/v1/events?limit=3&order=desc"
    while target:
        page = server.get(target).json()
        backward += [e["seq"] for e in page["events"]]
        target = f"/api/v1/events?limit=3&order=desc&before={page['next']}" if page["more"] else None
    assert backward == forward[::-1]
    assert {e["kind"] for e in server.get("/api/v1/events?kind=job_end,nothing").json()["events"]} == {"job_end"}


def test_metrics_in_both_forms(vigil, job):
    server = Server(vigil)
    plain = server.get("/metrics")
    assert plain.status == 200 and plain.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert b'vigil_job_info{' in plain.body and not plain.body.endswith(b"# EOF\n")
    openmetrics = server.get("/metrics", headers={"Accept": "application/openmetrics-text;version=1.0.0"})
    assert openmetrics.headers["Content-Type"].startswith("application/openmetrics-text")
    assert openmetrics.body.endswith(b"# EOF\n")
    assert server.ask("GET", "/metrics", token=False).status == 401


def test_metrics_after_the_page_has_read_the_store(vigil, job):
    """Their helper is forked at the first scrape: what the server has open by then is no store of the helper's."""
    server = Server(vigil)
    assert server.get("/api/v1/jobs").json()["jobs"]
    assert b'vigil_job_info{' in server.get("/metrics").body
    assert server.get("/api/v1/jobs").json()["jobs"] and server.get("/metrics").status == 200


def test_who_makes_metrics_holds_up_nobody(vigil, job):
    """A process of its own gathers them: others are served meanwhile, and one that dies is replaced."""
    server = Server(vigil)
    assert server.get("/metrics").status == 200

    def helper():
        return next((p for p in psutil.Process(server.pid).children() if p.name() == "vigil-metrics"), None)
    first = helper()
    first.suspend()
    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(server.get, "/metrics") for _ in range(3)]
        for _ in range(20):
            began = time.monotonic()
            assert server.get("/api/v1/me").status == 200
            assert time.monotonic() - began < 5
        assert not any(w.done() for w in waiting)
        first.resume()
        assert [w.result(30).status for w in waiting] == [200, 200, 200]
        first.suspend()
        waiting = pool.submit(server.get, "/metrics")
        wait_for(lambda: not waiting.done())
        first.kill()
        assert waiting.result(30).status in (200, 503)
    assert server.get("/metrics").status == 200 and helper().pid != first.pid
    server.process.terminate()
    server.process.wait(20)
    assert not any(p.name() == "vigil-metrics" and p.ppid() == 1 and str(vigil.state) in p.environ().values()
                   for p in psutil.process_iter() if p.uids().real == os.getuid() and p.status() != psutil.STATUS_ZOMBIE)


def test_the_page_and_its_files(vigil):
    server = Server(vigil)
    page = server.get("/", token=False)
    assert page.status == 200 and b"<html" in page.body and page.headers["Cache-Control"] == "no-store"
    packed = server.get("/", token=False, headers={"Accept-Encoding": "gzip, br"})
    assert packed.headers["Content-Encoding"] == "gzip" and gzip.decompress(packed.body) == page.body
    same = server.get("/", token=False, headers={"If-None-Match": page.headers["ETag"]})
    assert same.status == 304 and same.body == b""
    head = server.ask("HEAD", "/", token=False)
    assert head.status == 200 and head.body == b"" and int(head.headers["Content-Length"]) == len(page.body)
    described = server.get("/api/v1/openapi.json")
    assert described.json() == OPENAPI
    assert server.get("/api/v1/openapi.json", token=False).status == 401


def test_every_described_route_is_there_and_wants_its_role(vigil, state):
    server = Server(vigil)
    tokens = server.tokens(state)
    below = {"viewer": None, "operator": "viewer", "admin": "operator"}
    for path, methods in OPENAPI["paths"].items():
        target = path.format(job="x", incident="x", file="0-0-out", profile="x")
        for method, said in methods.items():
            if said["x-role"] == "nobody":
                continue
            assert server.ask(method.upper(), target, b"{}", token=False).status == 401, (method, path)
            less = below[said["x-role"]]
            if less:
                assert server.ask(method.upper(), target, b"{}", token=tokens[less]).status == 403, (method, path)
            if said["x-role"] != "viewer" or path != "/api/v1/stream":
                enough = server.ask(method.upper(), target, b"{}", token=tokens[said["x-role"]])
                assert enough.status not in (401, 403, 405), (method, path, enough)
        for method in {"get", "post", "put", "delete", "patch", "options"} - set(methods):
            assert server.ask(method.upper(), target).status == 405, (method, path)


def test_a_store_that_is_missing_replaced_newer_or_damaged(vigil, state, tmp_path):
    server = Server(vigil)
    assert server.get("/api/v1/jobs").json() == {"schema": "vigil.jobs/1", "total": 0, "jobs": []}
    assert server.get("/api/v1/jobs/last").status == 404
    assert vigil("run", "--name", "first", "--", "true").status == 0
    wait_for(lambda: server.get("/api/v1/jobs").json()["total"] == 1, 10, "the new store")
    for file in state.glob("vigil.db*"):
        file.unlink()
    assert vigil("run", "--name", "second", "--", "true").status == 0
    assert wait_for(lambda: [j["name"] for j in server.get("/api/v1/jobs").json().get("jobs", [])], 10) == ["second"]
    kept = tmp_path / "kept"
    kept.mkdir()
    for file in state.glob("vigil.db*"):
        shutil.move(file, kept / file.name)
    (state / "vigil.db").write_bytes(b"no database at all" * 1000)
    answer = wait_for(lambda: (a := server.get("/api/v1/jobs")).status == 503 and a, 10, "the damage to be told")
    assert "vigil.db" in answer.json()["text"] or "store" in answer.json()["text"]
    (state / "vigil.db").unlink()
    for file in kept.iterdir():
        shutil.move(file, state / file.name)
    wait_for(lambda: server.get("/api/v1/jobs").status == 200, 10, "the store to be back")


def test_a_store_of_a_newer_vigil_is_told_and_not_read(vigil, state):
    assert vigil("run", "--", "true").status == 0
    server = Server(vigil)
    assert server.get("/api/v1/jobs").status == 200
    for file in state.glob("vigil.db*"):
        file.rename(state / f"old-{file.name}")
    with contextlib.closing(sqlite3.connect(state / "vigil.db")) as db:
        db.execute("PRAGMA application_id=0x5669676c")
        db.execute("PRAGMA user_version=99")
        db.execute("CREATE TABLE job(id TEXT)")
        db.commit()
    answer = wait_for(lambda: (a := server.get("/api/v1/jobs")).status == 503 and a, 10, "the newer store to be refused")
    assert "newer" in answer.json()["text"]


def test_a_store_that_another_program_writes_to_is_read(vigil, state):
    assert vigil("run", "--", "true").status == 0
    server = Server(vigil)
    with contextlib.closing(sqlite3.connect(state / "vigil.db", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        assert server.get("/api/v1/jobs").json()["total"] == 1
        assert time.monotonic() - began < 2
        db.execute("ROLLBACK")


def test_a_port_that_is_taken_says_by_whom(vigil):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        refused = vigil("dashboard", "--port", str(port))
        assert refused.status == 1 and f"port {port} is taken by" in refused.text and "pid" in refused.text
    first, second = Server(vigil), Server(vigil)
    assert first.port != second.port
    assert first.get("/api/v1/me").status == second.get("/api/v1/me").status == 200


def test_no_directory_to_write_keeps_the_tokens_in_memory(vigil, state, as_nobody):
    if not as_nobody:
        pytest.skip("it takes another user to be denied the directory")
    server = Server(vigil, "--state", "/proc/no/such/place", prefix=as_nobody)
    assert not server.told["token_kept"] and "until this server ends" in server.told["note"]
    assert server.get("/api/v1/me").status == 200


def test_wrong_calls_are_one_sentence(vigil, tmp_path):
    for args, said in ((("--listen", "0.0.0.0:0"), "--tls-cert"), (("--listen", "x"), "ADDR:PORT"),
                       (("--listen", "example.org:80"), "numeric address"), (("--tls-key", "/x"), "belong together"),
                       (("--port", "70000"), "65535"), (("--allow-host", "a b"), "--allow-host"), (("word",), "nothing is expected")):
        result = vigil("dashboard", *args)
        assert result.status == 2 and said in result.text and len(result.text.strip().splitlines()) == 1, result


def admin_token(vigil):
    return (vigil.state / "web-tokens").read_text().split("admin ")[1].strip()


def test_run_serves_the_page_until_the_job_ends(vigil):
    process = vigil.start("run", "--dashboard", "--", "sh", "-c", "ls -l /proc/self/fd; exec sleep 4")
    line = b""
    while b"the page is at" not in line:
        line = process.stderr.readline()
        assert line
    url = line.split(b"at ", 1)[1].strip().decode()
    port, token = int(url.split(":")[2].split("/")[0]), admin_token(vigil)
    assert "#code=" in url and token not in url
    with socket.create_connection(("127.0.0.1", port), 10) as s:
        s.sendall(f"GET /api/v1/jobs HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        assert b"200 OK" in s.recv(65536)
    result = vigil.finish(process)
    assert result.status == 0 and b"socket" not in result.out

    def gone():
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return False
        except OSError:
            return True
    wait_for(gone, 5, "the server to end")


def test_run_serves_the_page_where_dev_null_cannot_be_opened(vigil, tmp_path):
    """In a container it may be missing, or another user's. A socket in its place is opened by nobody, not even root."""
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(tmp_path / "null"))
    hide = ("unshare", "-m", "--", "sh", "-c", f'mount --bind {tmp_path}/null /dev/null && exec "$@"', "-")
    if subprocess.run([*hide, "true"], stdin=subprocess.DEVNULL).returncode != 0:
        pytest.skip("no mount namespace can be made")
    process = vigil.start("run", "--dashboard", "--", "sleep", "6", prefix=hide)
    line = b""
    while b"the page is at" not in line:
        line = process.stderr.readline()
        assert line, "no page, and nothing is said of it"
    port, token = int(line.split(b"at ", 1)[1].decode().split(":")[2].split("/")[0]), admin_token(vigil)

    def answer(target):
        ask = urllib.request.Request(f"http://127.0.0.1:{port}/api/v1/{target}", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(ask, timeout=20) as got:
            return json.load(got)

    wait_for(lambda: answer("jobs?running=1")["jobs"], 20, "the job to be known")
    assert answer("node")["schema"] == "vigil.memory/1"  # a child's answer
    assert vigil.finish(process).status == 0


def test_an_open_page_is_told_of_the_end_and_stderr_how_to_see_it_again(vigil):
    process = vigil.start("run", "--dashboard", "--name", "short", "--", "sh", "-c", "sleep 3; exit 3")
    line = b""
    while b"the page is at" not in line:
        line = process.stderr.readline()
        assert line
    url = line.split(b"at ", 1)[1].strip().decode()
    port, token = int(url.split(":")[2].split("/")[0]), admin_token(vigil)

    def get(target):
        head = {"Authorization": f"Bearer {token}"}
        with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/api/v1/{target}", headers=head), timeout=20) as answer:
            return json.load(answer)

    wait_for(lambda: get("jobs?running=1")["jobs"], 20, "the job to be known")
    job = get("jobs")["jobs"][0]["id"]
    with socket.create_connection(("127.0.0.1", port), 20) as s:
        s.sendall(f"GET /api/v1/stream?job={job}&topics=health,events HTTP/1.1\r\nHost: localhost\r\n"
                  f"Authorization: Bearer {token}\r\n\r\n".encode())
        told = b""
        while b'"kind": "job_end"' not in told or b'"state": "failed"' not in told:
            part = s.recv(65536)
            assert part, f"the stream ended before the news of the end: {told[-2000:]}"
            told += part
        assert get(f"jobs/{job}")["exit_status"] == 3  # what the page asks for when it hears of the end
        while s.recv(65536):  # and then the server goes
            pass
    result = vigil.finish(process)
    assert result.status == 3
    assert "to see it again: vigil dashboard" in result.text.strip().splitlines()[-1], result.text


def test_run_goes_on_where_no_page_can_be_served(vigil):
    result = vigil("run", "--dashboard", "--", "echo", "fine", env={"LD_LIBRARY_PATH": "/nowhere"})
    assert result.status == 0 and result.out == b"fine\n"


def test_a_unix_socket_serves_its_user(vigil, tmp_path):
    path = tmp_path / "s"
    server = Server(vigil, "--listen", f"unix:{path}")
    assert path.stat().st_mode & 0o777 == 0o600
    assert server.get("/api/v1/me").json()["role"] == "admin"
    assert server.get("/api/v1/me", token=False).status == 401
    assert "#code" not in server.told["url"]
    assert "file web-tokens" in server.post("/api/v1/login", {"code": "0" * 64}, token=False).json()["text"]
    refused = vigil("dashboard", "--listen", f"unix:{path}")
    assert refused.status == 1 and "in use" in refused.text
    server.process.kill()
    server.process.wait(10)
    again = Server(vigil, "--listen", f"unix:{path}") # what a killed server left is no hindrance
    assert again.get("/api/v1/me").status == 200
    again.process.terminate()
    assert again.process.wait(10) == 0 and not path.exists()
    pathlib.Path(path).write_text("mine")
    assert vigil("dashboard", "--listen", f"unix:{path}").status == 1 and path.read_text() == "mine"


def test_large_answers_are_packed_for_who_takes_them(vigil):
    for n in range(12):
        assert vigil("run", "--name", f"a-job-with-a-number-{n}", "--", "true").status == 0
    server = Server(vigil)
    plain = server.get("/api/v1/jobs")
    assert len(plain.body) > 4096 and "Content-Encoding" not in plain.headers and plain.headers["Vary"] == "Accept-Encoding"
    takes = {"Accept-Encoding": "br, gzip"}
    packed = server.get("/api/v1/jobs", headers=takes)
    assert packed.headers["Content-Encoding"] == "gzip" and packed.headers["Vary"] == "Accept-Encoding"
    assert len(packed.body) < len(plain.body) / 3
    jobs = json.loads(gzip.decompress(packed.body))["jobs"]
    assert [j["id"] for j in jobs] == [j["id"] for j in plain.json()["jobs"]]
    for refuses in ("gzip;q=0", "gzip; q=0.000, br", "br", "identity", "x-gzipped"):
        for target in ("/api/v1/jobs", "/"):
            assert "Content-Encoding" not in server.get(target, headers={"Accept-Encoding": refuses}).headers, refuses
    small = server.get("/api/v1/me", headers=takes)
    assert "Content-Encoding" not in small.headers and small.json()["role"] == "admin"
    assert "Content-Encoding" not in server.get("/api/v1/jobs/nowhere", headers=takes).headers
    s = Stream(server, "?topics=jobs", headers=takes)
    assert "Content-Encoding" not in s.r.headers
    s.close()


def test_who_failed_in_the_attempt_before_is_no_culprit_of_a_running_job(vigil, tmp_path):
    fails = f"""
import os, sys, time
time.sleep(1)
if os.environ["RANK"] == "1" and not os.path.exists({str(tmp_path / "once")!r}):
    open({str(tmp_path / "once")!r}, "w").close()
    sys.exit(3)
for i in range(10000):
    print("step", i, flush=True)
    time.sleep(0.1)
"""
    run_job(vigil, sys.executable, "-c", fails, args=("--nproc", "2", "--retries", "1", "--retry-on", "any", "--backoff", "1"))
    server = Server(vigil)

    def again():
        jobs = server.get("/api/v1/jobs").json()["jobs"]
        rows = server.get(f"/api/v1/jobs/{jobs[0]['id']}/ranks").json()["ranks"] if jobs and jobs[0].get("attempt") == 1 else []
        return rows if len(rows) == 2 and all(r["state"] in ("running", "working", "waiting") for r in rows) else None
    assert [r["culprit"] for r in wait_for(again, 40, "the second attempt")] == [False, False]
