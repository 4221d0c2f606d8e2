"""One story a job: what `vigil why` says first of a job that hung, and what it says below."""
import json
import re
import signal
import sys

import psutil
import pytest

from conftest import wait_for, workload
from hangkit import events
from webkit import Server, check


def hung(vigil, *command, nproc=2):
    """A job that vigil has found to hang."""
    ranks = ["--nproc", nproc] if nproc else []
    p = vigil.start("run", "--hang-after", "3s", *ranks, "--", *command)
    wait_for(lambda: events(vigil, "hang") or p.poll() is not None, 60, "the report")
    assert p.poll() is None
    return p


@pytest.mark.parametrize("sig,word", [(signal.SIGINT, "SIGINT"), (signal.SIGTERM, "SIGTERM")])
def test_a_hang_that_somebody_ends_by_a_signal_stays_the_headline(vigil, sig, word):
    p = hung(vigil, *workload("hangs", "lock", "--at", 5))
    p.send_signal(sig)
    p.wait(30)
    report = vigil.why()
    assert report["kind"] == "hang" and report["culprit_ranks"] == [1], report
    assert "asked it to stop" in report["ended"]["text"], report["ended"]
    assert f"{word} from pid {psutil.Process().pid} (" in report["ended"]["text"], report["ended"]
    end = vigil.why(report["ended"]["incident"])
    assert end["kind"] == "killed_by" and end["id"] != report["id"]
    said = vigil("why").out.decode()
    assert said.startswith("hung  ·"), said
    assert said.index("ended at ") < said.index("Why"), "the end is the line below"
    assert f"vigil why {end['id']}" in said
    assert "went on" not in said, said


def test_a_job_that_answers_the_signal_by_a_clean_end_hung_all_the_same(vigil):
    script = "import signal, sys, threading\nsignal.signal(signal.SIGTERM, lambda *a: sys.exit(0))\nl = threading.Lock(); l.acquire()\nl.acquire()\n"
    p = hung(vigil, sys.executable, "-c", script, nproc=0)
    p.send_signal(signal.SIGTERM)
    assert p.wait(30) == 0
    report = vigil.why()
    assert report["kind"] == "hang", report
    assert report["ended"]["text"].startswith("It ended with exit status 0") and "SIGTERM from pid" in report["ended"]["text"]
    said = vigil("why").out.decode()
    assert "ended as it should" not in said, said


def test_a_hang_that_was_resolved_is_not_the_headline(vigil):
    p = hung(vigil, *workload("hangs", "stop", "--at", 5, "--steps", 100000))
    for process in psutil.Process(p.pid).children(recursive=True):
        if process.status() == psutil.STATUS_STOPPED:
            process.send_signal(signal.SIGCONT)
    wait_for(lambda: events(vigil, "hang_resolved"), 60, "it to move")
    p.send_signal(signal.SIGTERM)
    p.wait(30)
    report = vigil.why()
    assert report["kind"] == "killed_by" and "ended" not in report, report


def test_who_waits_for_whom_is_kept_with_the_hang(vigil):
    p = hung(vigil, *workload("hangs", "lock", "--at", 5), nproc=3)
    p.send_signal(signal.SIGTERM)
    p.wait(30)
    report = vigil.why()
    mains = {s["rank"]: s for s in report["stacks"] if s.get("role") == "main" and s["tid"] == s["pid"]}
    assert sorted(mains) == [0, 1, 2], report["stacks"]
    for rank in (0, 2):
        said = mains[rank]["waits_for"]
        assert said["text"] and [arrow["to"].get("rank") for arrow in said["to"]] != [], said
    assert report["culprit_ranks"] == [1] and "waits_for" in mains[1], mains[1]


def test_a_job_that_hangs_and_runs_has_no_end(vigil):
    p = hung(vigil, *workload("hangs", "lock", "--at", 5))
    assert "ended" not in vigil.why()
    said = " ".join(vigil("why").out.decode().split())
    assert "goes on" not in said and re.search(r"still stands: since \S+ \S+, for [1-9][\d.]* \w+ now; it is running", said), said
    p.terminate()
    p.wait(30)


def test_a_hang_stays_the_headline_when_vigil_itself_is_killed(vigil):
    p = hung(vigil, *workload("hangs", "lock", "--at", 5))
    assert " hung " in vigil("jobs").out.decode() and rows(vigil, "jobs")[0]["health"]["level"] == "hung"
    p.kill()
    p.wait(30)
    report = vigil.why()
    # the guard, which outlives it by seconds, may have written a report of that by now
    told = ("Vigil itself was ended", "which kept watch over hangs, was killed or crashed")
    assert report["kind"] == "hang" and any(text in report["ended"]["text"] for text in told), report


def test_a_lost_job_beside_others_breaks_no_list(vigil):
    jobs = [vigil.start("run", "--name", name, "--", "sleep", "60") for name in ("one", "lost", "two")]
    wait_for(lambda: all(name in vigil("ps").out.decode() for name in ("one", "lost", "two")), 30, "all three")
    jobs[1].kill()
    jobs[1].wait(30)
    for words in (("ps",), ("ps", "--json"), ("ps", "--all"), ("jobs",), ("top", "--once")):
        result = vigil(*words)
        assert result.status == 0 and b"one" in result.out and b"two" in result.out, result


# Started once, it starts its other ranks as Lightning does: with LOCAL_RANK, and rank 0 is the parent.
LIGHTNING = """if 1:
    import os, subprocess, sys, time
    local = os.environ.get("LOCAL_RANK")
    others = [] if local else [subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, "LOCAL_RANK": str(i),
              "WORLD_SIZE": "3", "NODE_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "2999"}) for i in (1, 2)]
    for s in range(1, 10000):
        if not local:
            print(f"Epoch 0:  31%|###       | {s}/20000 [00:00<00:00, 10it/s, loss=0.5, v_num=0]", flush=True)
        time.sleep(0.05)
        if os.path.exists(sys.argv[1]):
            break
    for o in others:
        o.wait()
"""


def rows(vigil, *words):
    return [json.loads(line) for line in vigil(*words, "--json").out.splitlines()]


def test_ranks_and_steps_are_the_same_in_every_command_and_after_the_end(vigil, tmp_path):
    script, over = tmp_path / "lit.py", tmp_path / "over"
    script.write_text(LIGHTNING)
    p = vigil.start("run", "--", sys.executable, script, over)
    alive = wait_for(lambda: [r for r in rows(vigil, "ps") if "step" in r and r.get("rank") == 0], 30, "the step of rank 0")
    wait_for(lambda: sorted(r.get("rank", -1) for r in rows(vigil, "ps")) == [0, 1, 2], 30, "all ranks")
    assert alive[0]["steps_total"] == 20000
    wait_for(lambda: rows(vigil, "show", "last")[0].get("steps", [{}])[0].get("per_s"), 30, "the rate")
    said = vigil("show", "last").out.decode()
    # the line of how it is now tells the steps of a job that is well, and they are told once
    assert len(re.findall(r"(?:now|progress) +step \d+ of 20000, \d+/s, ", said)) == 1, said
    assert re.search(r"  step \d+ of 20000, \d+/s, ", vigil("why").out.decode())
    for words in (["jobs"], ["ps", "last"]):  # step, rate, time left
        assert re.search(r" \d+/20000 +[\d.e+]+/s +\d+\.?\d* m?s? ?", vigil(*words).out.decode()), words
    over.touch()
    assert p.wait(30) == 0
    for words in (["ps", "last"], ["ps", "--all"]):
        assert sorted((r["rank"], r["role"]) for r in rows(vigil, *words)) == [(0, "main"), (1, "main"), (2, "main")], words
    (shown,) = rows(vigil, "show", "last")
    assert sorted(r["rank"] for r in shown["processes"]) == [0, 1, 2] and not any(r["running"] for r in shown["processes"])
    assert shown["steps"][0]["total"] == 20000
    assert re.search(r" \d+/20000 ", vigil("jobs").out.decode()) and rows(vigil, "jobs")[0]["steps"] == shown["steps"]
    counters = {e["name"] for e in vigil("timeline", "last", "-o", "-").json()["traceEvents"] if e["ph"] == "C"}
    assert "step" in counters, counters


def test_torchrun_is_called_torchrun(vigil):
    program = "import ctypes, os, signal\nctypes.CDLL(None).prctl(15, b'pt_' b'elastic')\nos.kill(os.getpid(), signal.SIGSEGV)"
    result = vigil("run", "--", sys.executable, "-c", program)
    assert result.status == 139, result
    report = vigil.why()
    assert report["victim"]["name"] == "torchrun" and "pt_elastic" not in vigil("why").out.decode(), report


LAST_STEPS = """
import sys, time
for step in range(1, 9):
    print(f"step {step}/8 loss 0.1", flush=True)
    time.sleep(0.4 if step < 6 else 0)
print("saved", flush=True)
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize("status,ranks", [(0, ["--nproc", 2]), (3, [])])
def test_the_steps_that_were_printed_last_are_known_after_the_end(vigil, status, ranks):
    """The watcher looks each second and would miss them: a job that has done all its steps would look cut short."""
    assert vigil("run", *ranks, "--", sys.executable, "-c", LAST_STEPS, status).status == status
    said = vigil("show").out.decode()
    assert re.search(r"progress +step 8 of 8$", said, re.MULTILINE), said


def test_a_job_has_had_as_much_memory_as_its_processes_had(vigil):
    held = "import time; a = b'x' * (200 << 20); time.sleep(2.5)"
    assert vigil("run", "--memory-limit", "0", "--", sys.executable, "-c", held).status == 0
    job = vigil("show", "--json").json()
    assert job["peak_bytes"] >= max(p.get("peak_own_bytes", 0) for p in job["processes"]) >= 200 << 20, job


def test_a_moment_in_the_middle_of_a_hang_tells_of_it(vigil):
    """It stood before it was told, and until its end; not before, nor after."""
    p = hung(vigil, *workload("hangs", "lock", "--at", 5))
    p.send_signal(signal.SIGTERM)
    p.wait(30)
    report, server = vigil.why(), Server(vigil)
    told, stood = report["time_unix_ms"], report["hang"]["standstill_ms"]

    def hang_at(ms):
        path = f"/api/v1/jobs/{report['job']}/at"
        return check(server.get(f"{path}?time={ms}"), "/api/v1/jobs/{job}/at").json().get("hang")
    for ms in (told - stood + 1, told - 1, told):
        found = hang_at(ms)
        assert found["incident"] == report["id"] and found["culprit_ranks"] == [1], (ms, found)
        assert found["text"] == report["cause"]["text"] and found["since_unix_ms"] == told - stood
        assert found["until_unix_ms"] >= told
    assert hang_at(told - stood - 1) is None
    assert hang_at(found["until_unix_ms"] + 1) is None
