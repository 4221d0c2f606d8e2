"""`vigil timeline`: a trace that viewers can open, whose spans are those of the store and whose counters are true."""
import collections
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import psutil
import pytest

from conftest import ROOT, wait_for, workload

MIB = 1 << 20
NEEDED = {"X": {"name", "pid", "tid", "ts", "dur", "cat"}, "i": {"name", "pid", "tid", "ts", "s", "cat"},
          "C": {"name", "pid", "ts", "args"}, "M": {"name", "pid", "args"}}


def refuse(text):
    raise AssertionError(f"{text} is not JSON")


class Trace:
    """A trace, checked against the rules of the Trace Event Format as it is read."""

    def __init__(self, text):
        self.all = json.loads(text, parse_constant=refuse)
        assert set(self.all) == {"traceEvents", "displayTimeUnit", "otherData"}
        assert self.all["displayTimeUnit"] == "ms"
        self.events, self.other = self.all["traceEvents"], self.all["otherData"]
        self.lanes, self.rows = {}, {}
        for e in self.events:
            assert e["ph"] in NEEDED and NEEDED[e["ph"]] <= set(e), e
            assert isinstance(e["pid"], int) and e["pid"] > 0, e
            assert 0 <= e.get("ts", 0) <= (self.other["until_unix_ms"] - self.other["started_unix_ms"]) * 1000, e
            if e["ph"] == "C":
                assert e["args"] and all(isinstance(v, (int, float)) and v >= 0 for v in e["args"].values()), e
            if e["ph"] == "i":
                assert e["s"] in "tpg", e
            if e["name"] == "process_name":
                assert e["pid"] not in self.lanes, "a lane is named once"
                self.lanes[e["pid"]] = e["args"]["name"]
            if e["name"] == "thread_name":
                assert e["tid"] not in [r for l, r in self.rows if l != e["pid"]], "a row belongs to one lane"
                self.rows[e["pid"], e["tid"]] = e["args"]["name"]
        for e in self.events:
            assert e["pid"] in self.lanes, e
            assert e["ph"] not in "Xi" or (e["pid"], e["tid"]) in self.rows, e
        self.check_nesting()
        self.check_order()

    def check_nesting(self):
        rows = collections.defaultdict(list)
        for e in self.spans():
            rows[e["pid"], e["tid"]].append((e["ts"], -e["dur"], e))
        for found in rows.values():
            open_ = []
            for ts, _, e in sorted(found, key=lambda f: f[:2]):
                while open_ and open_[-1] <= ts:
                    open_.pop()
                assert not open_ or ts + e["dur"] <= open_[-1], f"{e} crosses the span around it"
                open_.append(ts + e["dur"])

    def check_order(self):
        last = collections.defaultdict(int)
        for e in self.events:
            if e["ph"] == "C":
                key = e["pid"], e["name"]
                assert e["ts"] >= last[key], f"{e} goes back in time"
                last[key] = e["ts"]

    def spans(self, category=None, lane=None):
        return [e for e in self.events if e["ph"] == "X" and category in (None, e["cat"]) and lane in (None, e["pid"])]

    def instants(self, category):
        return [e for e in self.events if e["ph"] == "i" and e["cat"] == category]

    def lane(self, start):
        found = [pid for pid, name in self.lanes.items() if name.startswith(start)]
        assert len(found) == 1, self.lanes
        return found[0]

    def row(self, span):
        return self.rows[span["pid"], span["tid"]]

    def counter(self, lane, name, key):
        """[(from second, until second, value)]"""
        points = [(e["ts"] / 1e6, e["args"][key]) for e in self.events
                  if e["ph"] == "C" and e["pid"] == lane and e["name"] == name]
        ends = [t for t, _ in points[1:]] + [(self.other["until_unix_ms"] - self.other["started_unix_ms"]) / 1e3]
        return [(t, end, v) for (t, v), end in zip(points, ends)]

    def total(self, lane, name, key):
        return sum((end - at) * value for at, end, value in self.counter(lane, name, key))

    def most(self, lane, name, key):
        return max(value for _, _, value in self.counter(lane, name, key))


def timeline(vigil, job="last", *args):
    result = vigil("timeline", job, *args)
    assert result.status == 0, result
    return Trace(result.out)


def show(vigil, job="last"):
    return vigil("show", job, "--json").json()


def test_lanes_and_spans_are_those_of_the_store(vigil, small_machine):
    result = vigil("run", "--nproc", "2", "--retries", "1", "--backoff", "10ms", "--", "sh", "-c",
                   '[ "$RANK$RESTART_COUNT" = 10 ] || exec sleep 1.5; exec "$@"', "sh", *workload("hog", 2000, "--rate", 300),
                   box=small_machine(400), timeout=90)
    assert result.status == 0, result
    told, trace = show(vigil), timeline(vigil)
    assert trace.other["job"] == told["id"] and trace.other["state"] == "done"
    attempts = trace.spans("attempt")
    assert [a["name"] for a in attempts] == ["attempt 0", "attempt 1"]
    assert attempts[0]["ts"] + attempts[0]["dur"] <= attempts[1]["ts"]
    for p in told["processes"]:
        lane = trace.lane(f"rank {p['rank']} ")
        mine = [s for s in trace.spans("process", lane)
                if s["args"]["pid"] == p["pid"] and s["args"]["attempt"] == p["attempt"]]
        assert len(mine) == 1, (p, mine)
        assert trace.row(mine[0]) == "main"
        began = p["started_unix_ms"] - told["started_unix_ms"]
        assert mine[0]["ts"] == began * 1000
        assert mine[0]["dur"] == (p["ended_unix_ms"] - p["started_unix_ms"]) * 1000
    assert [e["name"] for e in trace.instants("event")] == [e["kind"] for e in told["events"]]
    assert [e["args"]["incident"] for e in trace.instants("incident")] == [i["id"] for i in told["incidents"]]
    report = vigil.why()
    victim = [s for s in trace.spans("guard") if s["name"].startswith("memory_kill")]
    assert len(victim) == 1 and victim[0]["args"]["victim_pid"] == report["victim"]["pid"]
    assert victim[0]["pid"] == trace.lane("rank 1 ")
    steps = [s["name"] for s in trace.spans("guard") if s is not victim[0]]
    assert "ending" in steps
    if "freeze_us" in report["action"]:
        assert "frozen" in steps


def test_counters_are_true(vigil):
    result = vigil("run", "--nproc", "2", "--memory-threshold", "0", "--",
                   *workload("user", "--cores", "1,0", "--mib", "0,200", "--write", "0,20", "--seconds", 6))
    assert result.status == 0, result
    trace = timeline(vigil)
    burner, hog = trace.lane("rank 0 "), trace.lane("rank 1 ")
    # the machine may be busy: compared with what the kernel granted, seen from outside, below
    assert 0.2 < trace.most(burner, "CPU", "cores") < 1.3
    assert trace.total(hog, "CPU", "cores") < 0.5 * trace.total(burner, "CPU", "cores") + 1
    assert 200 * MIB <= trace.most(hog, "memory bytes", "own") < 260 * MIB
    assert trace.most(burner, "memory bytes", "own") < 100 * MIB
    wrote = trace.total(hog, "IO calls bytes/s", "written")
    assert 80 * MIB < wrote < 140 * MIB, wrote / MIB
    assert trace.most(burner, "processes", "processes") == 2
    assert trace.most(trace.lane("node "), "memory bytes", "used") > 200 * MIB


def test_all_cpu_time_is_accounted_for(vigil, tmp_path):
    """Short-lived children included: the sum under the curve is what the kernel says of the whole tree."""
    script = ("import os, resource, subprocess, sys, time\n"
              "end = time.monotonic() + 4\n"
              "while time.monotonic() < end:\n"
              "    subprocess.run([sys.executable, '-c', 'for i in range(2000000): pass'])\n"
              "own, kids = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)\n"
              f"open({str(tmp_path / 'used')!r}, 'w').write(str(sum([own.ru_utime, own.ru_stime, kids.ru_utime, kids.ru_stime])))\n")
    assert vigil("run", "--name", "kids", "--", "/usr/bin/python3", "-c", script).status == 0
    trace, used = timeline(vigil), float((tmp_path / "used").read_text())
    assert used > 0.5
    assert trace.total(trace.lane("kids "), "CPU", "cores") == pytest.approx(used, rel=0.1, abs=0.15)


def test_workers_come_and_go(vigil):
    result = vigil("run", "--name", "crowd", "--", *workload("user", "--children", 200, "--seconds", 4), timeout=120)
    assert result.status == 0, result
    trace = timeline(vigil)
    lane = trace.lane("crowd ")
    sleepers = [s for s in trace.spans("process", lane) if s["name"].startswith("sleep ")]
    assert len(sleepers) == 200
    assert len({s["tid"] for s in sleepers}) == 200, "all at once: each needs a row"
    assert trace.most(lane, "processes", "processes") >= 201
    assert len({s["args"]["ppid"] for s in sleepers}) == 1


def test_a_picture_has_so_many_points_no_less_memory_and_says_what_is_left_out(vigil):
    result = vigil("run", "--name", "crowd", "--memory-threshold", "0", "--",
                   *workload("user", "--children", 100, "--mib", 200, "--cores", 1, "--seconds", 5), timeout=120)
    assert result.status == 0, result
    whole, part = timeline(vigil), timeline(vigil, "last", "--points", 3)
    lane = whole.lane("crowd ")
    assert "left_out" not in whole.other and len(whole.counter(lane, "memory bytes", "own")) > 6
    assert len(part.counter(lane, "memory bytes", "own")) <= 4, "three parts, and the end"
    assert part.most(lane, "memory bytes", "own") == whole.most(lane, "memory bytes", "own") >= 200 * MIB
    assert part.total(lane, "CPU", "cores") == pytest.approx(whole.total(lane, "CPU", "cores"), rel=0.05)
    told = len(whole.spans("process")) + len(whole.instants("event"))
    left = part.other["left_out"]
    assert left >= 80 and len(part.spans("process")) + len(part.instants("event")) + left == told
    assert part.spans("attempt") == whole.spans("attempt")

    began = whole.other["started_unix_ms"]
    middle = timeline(vigil, "last", "--from", began + 2000, "--to", began + 3500)
    times = [at for at, _, _ in middle.counter(lane, "memory bytes", "own")]
    assert times == [at for at, _, _ in whole.counter(lane, "memory bytes", "own") if 2 <= at <= 3.5] and times
    assert all(e["ts"] + e["dur"] >= 2e6 and e["ts"] <= 3.5e6 for e in middle.spans("process"))
    assert not [e for e in middle.instants("event") if not 2e6 <= e["ts"] <= 3.5e6]
    for bad in (["--from", "noon"], ["--to", "-5"], ["--points", "many"]):
        assert vigil("timeline", "last", *bad).status == 2, bad


def test_rows_are_used_again(vigil):
    result = vigil("run", "--name", "turns", "--", "sh", "-c", "for i in 1 2 3 4; do sleep 1.1; done")
    assert result.status == 0, result
    trace = timeline(vigil)
    sleepers = [s for s in trace.spans("process") if s["name"].startswith("sleep ")]
    # an end is noticed at the next look, when the one after it may run already
    assert len(sleepers) >= 3 and len({s["tid"] for s in sleepers}) <= 2


def test_between_two_attempts_there_are_no_steps_and_the_next_is_looked_at_at_once(vigil, tmp_path):
    """The sampler has slowed down by then, as nothing runs."""
    program = f"""
import os, sys, time
for i in range(40):
    print(f"step {{i + 1}}/40", flush=True)
    time.sleep(0.05)
if not os.path.exists({str(tmp_path / "once")!r}):
    open({str(tmp_path / "once")!r}, "w").close()
    sys.exit(3)
"""
    p = vigil("run", "--retries", "1", "--retry-on", "any", "--backoff", "6s", "--", sys.executable, "-c", program)
    assert p.status == 0, p
    trace = timeline(vigil)
    first, second = [e for e in trace.spans() if e.get("cat") == "attempt"]
    ended, began = first["ts"] + first["dur"], second["ts"]
    steps = [(e["ts"], e["args"]["step"]) for e in trace.events if e["ph"] == "C" and e["name"] == "step"]
    assert began - ended > 5e6 and (within := [s for at, s in steps if ended <= at < began]), steps
    assert within[-1] == 0, steps
    looks = [e["ts"] for e in trace.events if e["ph"] == "C" and e["name"] == "CPU" or e["name"] == "processes"]
    assert [at for at in looks if began <= at < began + 1.2e6], (began, looks)


def test_between_two_attempts_nothing_of_the_job_is_shown_to_live(vigil, tmp_path):
    """The pause is shorter than a look, and one rank ends after the last look of its attempt."""
    program = f"""
import os, sys, time
held = bytearray(50 << 20)
time.sleep(0.7)
if not os.path.exists({str(tmp_path / "once")!r}) and os.environ["RANK"] == "0":
    open({str(tmp_path / "once")!r}, "w").close()
    sys.exit(3)
time.sleep(1)
"""
    p = vigil("run", "--nproc", "2", "--retries", "1", "--retry-on", "any", "--backoff", "900ms", "--", sys.executable, "-c", program)
    assert p.status == 0, p
    for args in ((), ("--points", "600")):
        trace = timeline(vigil, "last", *args)
        first, second = [e for e in trace.spans() if e.get("cat") == "attempt"]
        ended, began = (first["ts"] + first["dur"]) / 1e6, second["ts"] / 1e6
        assert began - ended > 0.8
        for rank in (0, 1):
            for name, key in (("memory bytes", "own"), ("memory bytes", "shared"), ("processes", "processes")):
                curve = trace.counter(trace.lane(f"rank {rank} "), name, key)
                assert max(v for _, _, v in curve) > 0
                assert [v for at, until, v in curve if at <= ended + 0.3 < until] == [0], (name, rank, ended, began, curve)
        job = [v for at, until, v in trace.counter(1, "memory bytes", "job") if at <= ended + 0.3 < until]
        assert not job or job[0] < 10 << 20, job


def test_a_running_job_goes_on_until_now(vigil):
    vigil.start("run", "--name", "live", "--", "sleep", "60")
    wait_for(lambda: list(vigil.state.glob("jobs/*/series")), what="the first sample")
    first = timeline(vigil)
    assert first.other["state"] == "running"
    later = wait_for(lambda: [t for t in [timeline(vigil)] if t.other["samples"] > first.other["samples"]])[0]
    assert later.other["until_unix_ms"] > first.other["until_unix_ms"]
    span = later.spans("process")[0]
    assert span["ts"] + span["dur"] == (later.other["until_unix_ms"] - later.other["started_unix_ms"]) * 1000


def test_a_running_job_says_what_is_left(vigil):
    """As `vigil jobs` and `vigil show` do, by the rank that is behind."""
    loop = "import time\nfor i in range(4000): print(f'step {i}/4000 loss 1', flush=True); time.sleep(0.1)"
    p = vigil.start("run", "--", sys.executable, "-c", loop)
    wait_for(lambda: " left" in vigil("show").out.decode() or p.poll() is not None, 40, "steps")
    other = vigil("timeline", "last", "-o", "-").json()["otherData"]
    assert other["steps_total"] == 4000 and 0 < other["step"] < 4000, other
    assert 100e3 < other["left_ms"] < 1200e3, other
    p.terminate()
    p.wait(20)
    ended = vigil("timeline", "last", "-o", "-").json()["otherData"]
    assert "left_ms" not in ended and ended["step"] >= other["step"], ended


def test_a_killed_vigil_leaves_a_timeline_up_to_then(vigil):
    process = vigil.start("run", "--name", "lost", "--", *workload("user", "--cores", 1, "--seconds", 60))

    def worked():
        told = vigil("timeline", "last")
        trace = Trace(told.out) if told.status == 0 else None
        return trace and trace.other["samples"] >= 3 and trace.total(trace.lane("lost "), "CPU", "cores") > 0.6
    wait_for(worked, 50, "some samples, and half a second of work")
    process.kill()
    process.wait(10)
    wait_for(lambda: show(vigil)["state"] == "lost" or show(vigil)["state"] == "failed", what="the job to be lost")
    trace = timeline(vigil)
    assert trace.total(trace.lane("lost "), "CPU", "cores") > 0.5
    assert trace.spans("process")
    series = next(vigil.state.glob("jobs/*/series"))
    whole = series.read_bytes()
    for cut in (1, 7, 50, len(whole) - 20):
        series.write_bytes(whole[:-cut])
        assert timeline(vigil).other["samples"] <= trace.other["samples"]
    series.write_bytes(b"nonsense" * 1000)
    assert timeline(vigil).other["samples"] == 0


def test_an_adopted_process_has_a_timeline(vigil):
    job = subprocess.Popen(workload("user", "--cores", "1", "--seconds", 6), stdout=subprocess.DEVNULL)
    try:
        result = vigil("watch", "--pid", job.pid)
    finally:
        job.kill()
        job.wait()
    assert result.status == 0, result
    trace = timeline(vigil)
    mains = [s for s in trace.spans("process") if s["args"]["pid"] == job.pid]
    assert len(mains) == 1 and mains[0]["ts"] == 0
    assert trace.total(mains[0]["pid"], "CPU", "cores") > 0.5


def test_a_short_job_pays_nothing_and_still_has_its_spans(vigil):
    assert vigil("run", "--", "true").status == 0
    assert not list(vigil.state.glob("jobs/*/series"))
    trace = timeline(vigil)
    assert [s["cat"] for s in trace.spans()] == ["attempt", "process"]


def test_where_it_is_written(vigil, tmp_path):
    assert vigil("run", "--", "true").status == 0
    to = tmp_path / "out.json"
    assert vigil("timeline", "last", "-o", to).out == b""
    Trace(to.read_text())
    Trace(vigil("timeline", "last", "-o", "-").out)
    Trace(vigil("timeline", "last", "--json").out)
    ours, theirs = os.openpty()
    result = vigil("timeline", "last", stdout=theirs, cwd=tmp_path)
    os.close(ours)
    os.close(theirs)
    found = list(tmp_path.glob("vigil-timeline-*.json"))
    assert result.status == 0 and len(found) == 1, result
    assert found[0].name in result.text and "ui.perfetto.dev" in result.text
    Trace(found[0].read_text())


def test_what_goes_wrong_is_said_in_one_sentence(vigil, tmp_path, tiny_disk):
    assert vigil("timeline", "last").status == 4
    assert vigil("run", "--", "true").status == 0
    for args, status in ((("nosuch",), 4), (("last", "again"), 2), (("last", "-o", tmp_path / "no/such/dir"), 1)):
        result = vigil("timeline", *args)
        assert result.status == status and len(result.text.strip().splitlines()) == 1, result
    with open("/dev/full", "wb") as full:
        assert vigil("timeline", "last", stdout=full).status == 1
    disk = tiny_disk(4)
    (disk / "fill").write_bytes(b"x" * 4096)
    result = vigil("timeline", "last", "-o", disk / "t.json")
    assert result.status == 1 and len(result.text.strip().splitlines()) == 1, result
    assert not (disk / "t.json").exists(), "half a trace is not left behind"


def test_names_that_are_no_text_do_not_break_it(vigil, tmp_path):
    program = tmp_path / os.fsdecode(b'q"\\\xff\x01\n')
    shutil.copy("/bin/sleep", program)
    result = vigil("run", "--", program, "1")
    assert result.status == 0, result
    names = [s["name"] for s in timeline(vigil).spans("process")]
    assert len(names) == 1 and names[0].startswith('q"\\'), names


def ray_file(path, tasks):
    """As `ray timeline` writes it: [(worker, begin in Unix ms, length in ms)], with the parts that Ray adds to each task."""
    events = []
    for worker, begin, length in tasks:
        row = {"pid": "10.0.0.3", "tid": f"worker:{worker}", "ts": begin * 1000.0, "dur": length * 1000.0, "ph": "X", "args": {}}
        events += [{**row, "cat": "task:execute", "name": "task:execute"}, {**row, "cat": "task::f", "name": "sort pages"}]
    path.write_text(json.dumps(events))


def test_tasks_of_ray_are_shown_on_the_job_s_clock(vigil, tmp_path):
    assert vigil("run", "--name", "r", "--", "sleep", "1").status == 0
    began = json.loads(vigil("jobs", "--json").out)["started_unix_ms"]
    ray_file(tmp_path / "ray.json", [("aa", began + 100, 200), ("aa", began + 300, 50), ("bb", began - 500, 600),
                                     ("bb", began + 3_600_000, 100)])
    result = vigil("timeline", "r", "--ray", tmp_path / "ray.json")
    assert result.status == 0 and result.err == b"", result
    trace = Trace(result.out)
    spans = [e for e in trace.all["traceEvents"] if e["ph"] == "X" and e["cat"] == "ray"]
    assert [(e["ts"], e["dur"], e["name"]) for e in spans] == [(100_000, 200_000, "sort pages"), (300_000, 50_000, "sort pages"),
                                                              (0, 100_000, "sort pages")]
    lanes = {e["pid"]: e["args"]["name"] for e in trace.all["traceEvents"] if e["ph"] == "M" and e["name"] == "process_name"}
    assert {lanes[e["pid"]] for e in spans} == {"Ray node 10.0.0.3"}
    rows = {(e["pid"], e["tid"]): e["args"]["name"] for e in trace.all["traceEvents"]
            if e["ph"] == "M" and e["name"] == "thread_name"}
    assert [rows[e["pid"], e["tid"]] for e in spans] == ["worker:aa", "worker:aa", "worker:bb"]


def test_a_file_that_is_not_rays_or_of_another_time_is_told(vigil, tmp_path):
    assert vigil("run", "--name", "r", "--", "true").status == 0
    (tmp_path / "gpu.json").write_text(json.dumps([{"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "name": "k", "cat": "kernel"}]))
    result = vigil("timeline", "r", "--ray", tmp_path / "gpu.json", "-o", tmp_path / "out.json")
    assert result.status == 1 and b"no task of Ray" in result.err and not (tmp_path / "out.json").exists()
    result = vigil("timeline", "r", "--ray", tmp_path / "none.json")
    assert result.status == 1 and result.out == b""
    ray_file(tmp_path / "old.json", [("aa", 1000, 200)])
    result = vigil("timeline", "r", "--ray", tmp_path / "old.json")
    assert result.status == 0 and b"of another time" in result.err and json.loads(result.out)
