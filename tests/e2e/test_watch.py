"""`vigil watch` and `vigil agent`: jobs that somebody else started."""
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import time

import psutil
import pytest

from conftest import wait_for, workload
from guardkit import (MIB, groups_left, guard_of, guardtrap, hog, job_ids, memory_group, no_trace,  # noqa: F401
                      nobodys_vigil, report_of, states_of)

PYTHON = "/usr/bin/python3"
LATER = ("import os, runpy, sys, time\ngo = sys.argv[1]\nprint('waiting', flush=True)\n"
         "while not os.path.exists(go): time.sleep(0.01)\n"
         "sys.argv = ['hog.py', *sys.argv[2:]]; runpy.run_path(%r, run_name='__main__')" % workload("hog")[2])


@pytest.fixture
def others():
    """others(command) starts a process that is not vigil's; all are ended with the test."""
    started = []

    def start(command, box=None, **popen):
        popen.setdefault("stdout", subprocess.PIPE)
        process = subprocess.Popen([str(c) for c in command], preexec_fn=box.enter if box else None,
                                   start_new_session=True, **popen)
        started.append(process)
        return process

    yield start
    for process in started:
        try:
            os.killpg(process.pid, signal.SIGCONT)
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait(10)
        if process.stdout:
            process.stdout.close()


def waiting(vigil, *args, word=b"watching", **kwargs):
    """A started watch or agent that has said that it watches."""
    process = vigil.start(*args, **kwargs)
    until(process, word)
    return process


def test_a_ray_node_is_called_what_the_user_says(vigil, others, tmp_path):
    (tmp_path / "raylet").mkdir()
    shutil.copy("/usr/bin/sleep", tmp_path / "raylet/raylet")
    raylet = others([tmp_path / "raylet/raylet", "60"])
    waiting(vigil, "watch", "--ray", "--name", "node", stderr=subprocess.PIPE)
    wait_for(lambda: any(row["job"].startswith("node-") and row["pid"] == raylet.pid
                         for row in map(json.loads, vigil("ps", "--json").out.splitlines())), 20, "the node by its name")


def events_of(vigil, kind):
    """The texts of all events of this kind."""
    found = [json.loads(line) for line in vigil("events", "--json").out.splitlines()]
    return [e["text"] for e in found if e["kind"] == kind]


def until(process, word, times=1):
    seen, end = b"", time.monotonic() + 20
    while time.monotonic() < end:
        readable, _, _ = select.select([process.stderr], [], [], 0.1)
        if readable:
            got = os.read(process.stderr.fileno(), 65536)
            assert got, f"it ended: {seen!r}"
            seen += got
        if seen.count(word) >= times:
            return seen
    pytest.fail(f"it did not say {word!r}: {seen!r}")


def test_an_adopted_hog_is_ended_before_the_kernel_does_it(vigil, small_machine, others, tmp_path):
    box = small_machine(256)
    job = others([PYTHON, "-u", "-c", LATER, tmp_path / "go", 2000, "--rate", 300], box=box)
    watch = waiting(vigil, "watch", "--pid", job.pid)
    (tmp_path / "go").touch()
    assert job.wait(30) == -signal.SIGKILL
    result = vigil.finish(watch, 30)
    assert result.status == 0, result
    assert box.kernel_kills() == 0
    report = vigil.why()
    assert (report["kind"], report["killer"]) == ("memory_kill", "vigil")
    assert report["victim"]["pid"] == job.pid
    assert report["memory"]["scope"] == "container"
    shown = vigil("jobs", "--json").json()
    assert shown["adopted"] and shown["memory_kills"] == 1


def test_no_process_of_a_watch_has_huge_pages(vigil, others):
    """Its tables are sized for the largest job: a page of each would become 2 MiB."""
    watch = waiting(vigil, "watch", "--pid", others(["sleep", "60"]).pid)
    wait_for(lambda: len(psutil.Process(watch.pid).children(recursive=True)) >= 3, 20, "helper, rescue, guard and watcher for hangs")
    for process in [psutil.Process(watch.pid), *psutil.Process(watch.pid).children(recursive=True)]:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        assert "THP_enabled:\t0\n" in status, process
    watch.send_signal(signal.SIGINT)
    assert vigil.finish(watch, 30).status == 0


def test_an_adopted_job_that_ends_well_leaves_no_report(vigil, others, tmp_path):
    job = others([PYTHON, "-u", "-c", LATER, tmp_path / "go", 8])
    watch = waiting(vigil, "watch", "--pid", job.pid)
    (tmp_path / "go").touch()
    assert job.wait(30) == 0
    assert vigil.finish(watch, 30).status == 0
    said = vigil("why", "last", "--json").json()
    assert said["kind"] not in ("memory_kill", "killed_by"), said
    assert "exit status 0" not in said["summary"], "what cannot be known is not made up"
    assert not list(vigil.state.glob("jobs/*/incidents/*")), "there is nothing to report"
    assert vigil("jobs", "--json").json()["state"] == "done"


def test_who_killed_an_adopted_job_is_told_where_the_kernel_tells(vigil, others):
    if os.geteuid() != 0:
        pytest.skip("needs BPF")
    job = others(["sleep", "300"])
    watch = waiting(vigil, "watch", "--pid", job.pid)
    killer = subprocess.Popen(["/bin/sh", "-c", f"kill -9 {job.pid}"])
    killer.wait()
    job.wait(10)
    result = vigil.finish(watch, 30)
    assert result.status == 0, result
    report = vigil.why()
    assert (report["kind"], report["killer"]) == ("killed_by", "signal")
    assert report["victim"]["signal"] == signal.SIGKILL
    assert str(killer.pid) in json.dumps(report), "the sender is named"


def test_the_process_of_somebody_else_is_watched_and_it_is_said_what_cannot_be(nobodys_vigil, as_nobody, others):
    if not as_nobody:
        pytest.skip("needs root to become nobody")
    job = others(["sleep", "300"])
    watch = waiting(nobodys_vigil, "watch", "--pid", job.pid, prefix=as_nobody, word=b"another user")
    watch.send_signal(signal.SIGTERM)
    assert nobodys_vigil.finish(watch, 30).status == 0
    assert job.poll() is None


def test_who_may_not_end_the_process_says_so_and_reports_no_kill(nobodys_vigil, as_nobody, others):
    if not as_nobody:
        pytest.skip("needs root to become nobody")
    job = others(workload("hog", 200, "--rate", 40, "--hold", 2))
    watch = waiting(nobodys_vigil, "watch", "--pid", job.pid, "--memory-limit", "100M", prefix=as_nobody, word=b"another user")
    assert job.wait(30) == 0
    result = nobodys_vigil.finish(watch, 30)
    kinds = [json.loads(line)["kind"] for line in nobodys_vigil("events", "--json", prefix=as_nobody).out.splitlines()]
    assert "hold_fire" in kinds and "memory_kill" not in kinds, kinds
    assert "may not end it" in result.text and "killed this worker" not in result.text, result


def test_an_absent_process_gives_status_4(vigil, others):
    job = others(["true"])
    job.wait()
    result = vigil("watch", "--pid", job.pid)
    assert result.status == 4, result
    assert str(job.pid) in result.text


def test_an_absent_group_gives_status_4(vigil):
    result = vigil("watch", "--cgroup", "no/such/group")
    assert result.status == 4, result
    assert "no/such/group" in result.text


@pytest.mark.parametrize("args", [[], ["--pid", "1", "--cgroup", "x"], ["--pid", "0"], ["--pid", "-3"], ["--pid", "train"], ["12"],
                                  ["--slurm", "12_3"], ["--slurm", "0"], ["--slurm", "4.0"], ["--slurm", "1", "--ray"],
                                  ["--pid", "99999999999999999999"]])
def test_a_watch_of_nothing_sensible_is_refused(vigil, args):
    result = vigil("watch", *args)
    assert result.status == 2, result
    assert result.text.count("\n") <= 3 and result.text.startswith("vigil"), result


def test_an_absent_job_of_slurms_gives_status_4_and_a_sentence(vigil):
    result = vigil("watch", "--slurm", 4_000_000_000)
    assert result.status == 4, result
    assert result.text.strip() == "vigil: no process of job 4000000000 of Slurm runs on this machine" \
        f"{'' if os.geteuid() == 0 else ' as you'}; 'squeue --job 4000000000' tells its nodes"


def test_a_job_of_slurms_is_watched_by_its_group_down_to_the_tasks(vigil, small_machine, others, tmp_path):
    box = small_machine(256)
    number = os.getpid()
    task = box.path / "slurm_here/uid_0" / f"job_{number}" / "step_0/task_0"
    if box.version == 2:
        task = box.path / "here_slurmstepd.scope" / f"job_{number}" / "step_0/user/task_0"
    task.mkdir(parents=True)

    def enter():
        (task / "cgroup.procs").write_text("0")
    box.enter = enter
    job = others([PYTHON, "-u", "-c", LATER, tmp_path / "go", 2000, "--rate", 300], box=box)
    watch = waiting(vigil, "watch", "--slurm", number)
    listed = [json.loads(line) for line in vigil("ps", "last", "--json").out.splitlines()]
    assert [p["pid"] for p in listed] == [job.pid]
    (tmp_path / "go").touch()
    assert job.wait(30) == -signal.SIGKILL
    assert box.kernel_kills() == 0
    report = wait_for(lambda: (r := vigil("why", "last", "--json")).status == 0 and r.json(), 20, "the report")
    assert report["victim"]["pid"] == job.pid and report["job"].startswith(f"slurm-{number}"), report
    box.remove() # as Slurm does at the job's end
    assert vigil.finish(watch, 30).status == 0


def test_a_job_of_slurms_without_a_group_is_known_by_its_environment(vigil, others):
    number = 3_000_000_000 + os.getpid()
    env = {**os.environ, "SLURM_JOB_ID": str(number)}
    first, second = (others(["sleep", "300"], env=env) for _ in range(2))
    watch = waiting(vigil, "watch", "--slurm", number)
    beside = others(["sleep", "300"], env={**env, "SLURM_JOB_ID": "1"})
    later = others(["sleep", "300"], env=env) # as the next step of the job
    first.kill()
    second.kill()
    wait_for(lambda: any(str(later.pid) in text for text in events_of(vigil, "job_adopted")), 20, "the later step")
    assert watch.poll() is None
    later.kill()
    assert vigil.finish(watch, 30).status == 0
    assert beside.poll() is None


def test_stopping_the_watch_leaves_the_job_alone(vigil, others):
    job = others(["sleep", "300"])
    watch = waiting(vigil, "watch", "--pid", job.pid)
    watch.send_signal(signal.SIGINT)
    assert vigil.finish(watch, 30).status == 0
    assert job.poll() is None
    shown = b" ".join(vigil("show", "last").out.split())
    assert b"watched until" in shown and b"was told to stop watching, and the job went on" in shown, shown


def test_a_watch_that_is_killed_leaves_the_job_alone(vigil, others):
    job = others(["sleep", "300"])
    watch = waiting(vigil, "watch", "--pid", job.pid)
    guard = guard_of(watch)
    watch.kill()
    watch.wait()
    wait_for(lambda: not psutil.pid_exists(guard), 15, "the guard to leave as well")
    assert job.poll() is None
    report = vigil.why()
    assert report["cause"]["id"] == "supervisor_killed"
    shown = b" ".join(vigil("show", report["job"]).out.split())
    assert b"was told to stop" not in shown and b"vigil itself (pid" in shown.split(b"Processes")[0], shown


def test_a_group_is_watched_and_only_who_is_in_it_is_ended(vigil, small_machine, others, tmp_path):
    box = small_machine(256)
    job = others([PYTHON, "-u", "-c", LATER, tmp_path / "go", 2000, "--rate", 300], box=box)
    beside = others(["sleep", "300"])
    watch = waiting(vigil, "watch", "--cgroup", box.path)
    shown = vigil("ps").out.split()
    assert str(job.pid).encode() in shown and str(beside.pid).encode() not in shown, shown
    (tmp_path / "go").touch()
    assert job.wait(30) == -signal.SIGKILL
    assert box.kernel_kills() == 0
    until(watch, b"vigil why")
    report = wait_for(lambda: (r := vigil("why", "last", "--json")).status == 0 and r.json(), 20, "the report")
    assert report["victim"]["pid"] == job.pid
    assert beside.poll() is None
    assert watch.poll() is None, "an empty group may fill again"
    watch.send_signal(signal.SIGTERM)
    assert vigil.finish(watch, 30).status == 0


def test_the_agent_guards_two_jobs_and_ends_the_right_one(vigil, small_machine, others, tmp_path):
    full, roomy = small_machine(256), small_machine(1024)
    mark = f"agent-test-{os.getpid()}"
    grower = others([PYTHON, "-u", "-c", LATER + f"  # {mark}", tmp_path / "go", 2000, "--rate", 300], box=full)
    quiet = others([PYTHON, "-u", "-c", LATER + f"  # {mark}", tmp_path / "never", 8], box=roomy)
    agent = vigil.start("agent", "--command", mark)
    until(agent, b"watching", 2)
    (tmp_path / "go").touch()
    assert grower.wait(30) == -signal.SIGKILL
    report = report_of(vigil, grower.pid)
    assert report["kind"] == "memory_kill"
    assert full.kernel_kills() == 0
    assert quiet.poll() is None
    assert states_of([quiet.pid])[quiet.pid] != psutil.STATUS_STOPPED
    agent.send_signal(signal.SIGTERM)
    assert vigil.finish(agent, 30).status == 0
    assert quiet.poll() is None


def test_the_agent_finds_a_job_that_comes_later_and_forgets_one_that_went(vigil, small_machine, others, tmp_path):
    """The second job gets the first one's place, but not the limits of the first one's group."""
    first_box, second_box = small_machine(128), small_machine(1024)
    mark = f"agent-test-{os.getpid()}"
    first = others([PYTHON, "-u", "-c", LATER + f"  # {mark}", tmp_path / "never", 8], box=first_box)
    agent = vigil.start("agent", "--command", mark)
    until(agent, b"watching", 1)
    first.kill()
    first.wait()
    until(agent, b"has ended", 1)
    second = others([PYTHON, "-u", "-c", LATER + f"  # {mark}", tmp_path / "never", 8], box=second_box)
    until(agent, b"watching", 1)
    stranger = others(workload("hog", 116, "--hold", 60), box=first_box) # over the first one's threshold, nobody's job
    wait_for(lambda: stranger.stdout.readline() == b"ready\n", 20)
    history = lambda: vigil("jobs", "--json").status
    end = time.monotonic() + 3
    wait_for(lambda: time.monotonic() > end or second.poll() is not None or history(), 10)
    assert second.poll() is None, "the second job is not ended for a group it is not in"
    assert stranger.poll() is None
    agent.send_signal(signal.SIGTERM)
    assert vigil.finish(agent, 30).status == 0


def test_the_agent_sees_at_once_what_begins_between_two_looks_at_all_processes(vigil, others):
    """All processes are looked at each five seconds: five jobs in a row would not all come just before that."""
    mark = f"agent-test-{os.getpid()}"
    agent = vigil.start("agent", "--command", mark)
    until(agent, b"nothing of it runs yet")
    took = []
    for _ in range(5):
        begun = time.monotonic()
        others([PYTHON, "-c", f"import time; time.sleep(60)  # {mark}"])
        until(agent, b"watching")
        took.append(time.monotonic() - begun)
    assert max(took) < 4, took
    agent.send_signal(signal.SIGTERM)
    assert vigil.finish(agent, 30).status == 0


def test_the_agent_by_group_names_the_right_job(vigil, small_machine, others, tmp_path):
    full, roomy = small_machine(256), small_machine(1024)
    grower = others([PYTHON, "-u", "-c", LATER, tmp_path / "go", 2000, "--rate", 300], box=full)
    quiet = others(["sleep", "300"], box=roomy)
    agent = vigil.start("agent", "--cgroup", f"{full.path},{roomy.path}")
    until(agent, b"watching", 2)
    (tmp_path / "go").touch()
    assert grower.wait(30) == -signal.SIGKILL
    report = report_of(vigil, grower.pid)
    assert full.path.name in report["job"]
    assert quiet.poll() is None
    agent.send_signal(signal.SIGTERM)
    assert vigil.finish(agent, 30).status == 0


def test_a_guard_of_a_watch_that_is_killed_is_replaced(vigil, small_machine, others, tmp_path):
    box = small_machine(256)
    job = others([PYTHON, "-u", "-c", LATER, tmp_path / "go", 2000, "--rate", 300], box=box)
    watch = waiting(vigil, "watch", "--pid", job.pid)
    first = guard_of(watch)
    os.kill(first, signal.SIGKILL)
    guard_of(watch, besides=first)
    (tmp_path / "go").touch()
    assert job.wait(30) == -signal.SIGKILL
    result = vigil.finish(watch, 30)
    assert "the guard process died" in result.text
    assert f"the guard process {first} died: signal 9" in "".join(events_of(vigil, "guard_died"))
    assert vigil.why()["killer"] == "vigil"
    assert box.kernel_kills() == 0


def test_a_watch_goes_on_unguarded_when_its_guard_dies_again_and_again(vigil, others):
    job = others(["sleep", "300"])
    watch = waiting(vigil, "watch", "--pid", job.pid)
    guard = None
    for _ in range(21):
        guard = guard_of(watch, besides=guard)
        os.kill(guard, signal.SIGKILL)
    until(watch, b"the job goes on unguarded")
    assert watch.poll() is None, "it still watches"
    assert len(events_of(vigil, "guard_died")) == 21
    job.kill()
    job.wait(10)
    result = vigil.finish(watch, 30)
    assert result.status == 0, result
    assert events_of(vigil, "job_end")


def test_a_watch_says_when_a_victim_had_ended_by_itself(nobodys_vigil, as_nobody, others, guardtrap):
    """The same event as `vigil run` leaves."""
    v = nobodys_vigil
    env = guardtrap("too-late")
    shutil.copy(env["LD_PRELOAD"], v.folder / "trap.so")
    (v.folder / "scratch").mkdir()
    (v.folder / "scratch").chmod(0o777)
    env.update(LD_PRELOAD=v.folder / "trap.so", GUARDTRAP_ONCE=v.folder / "scratch/once", GUARDTRAP_LOG=v.folder / "scratch/log")
    go = v.folder / "go"
    job = others([*(as_nobody or []), PYTHON, "-u", "-c", LATER.replace(workload("hog")[2], str(v.folder / "workloads/hog.py")),
                  go, 400, "--rate", 100])
    watch = waiting(v, "watch", "--pid", job.pid, "--memory-limit", "128M", "--no-freeze", env=env, prefix=as_nobody)
    go.touch()
    job.wait(30)
    result = v.finish(watch, 30)
    assert result.status == 0, result
    assert any("had already ended by itself" in text for text in events_of(v, "hold_fire")), result
    assert not events_of(v, "memory_kill")


def test_what_a_suspicion_saw_is_in_the_report_of_a_watched_job_that_is_killed(vigil, others):
    if os.geteuid() != 0:
        pytest.skip("needs BPF to know who killed it")
    script = ("import time\n"
              "for i in range(200):\n print(f'step {i}/1000', flush=True); time.sleep(0.05)\n"
              "import threading\nlock = threading.Lock()\n"
              "def stuck_in_here():\n lock.acquire(); lock.acquire()\nstuck_in_here()")
    log = vigil.state / "job.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "wb") as out:
        job = others([PYTHON, "-u", "-c", script], stdout=out)
    watch = waiting(vigil, "watch", "--pid", job.pid, "--hang-after", "20s")
    wait_for(lambda: events_of(vigil, "suspected"), 60, "the suspicion")
    # the first look at it takes a moment; its stacks are in the memory that both share
    with pytest.raises(subprocess.TimeoutExpired):
        watch.wait(3)
    os.kill(job.pid, signal.SIGKILL)
    job.wait(10)
    result = vigil.finish(watch, 30)
    assert result.status == 0, result
    report = vigil.why()
    assert (report["kind"], report["killer"]) == ("killed_by", "signal"), report
    assert "stuck_in_here" in json.dumps(report.get("stacks", [])), report
    assert any(e["kind"] == "suspicion" for e in report["evidence"]), report


def test_a_guard_of_a_watch_killed_before_it_kills_is_carried_through(vigil, small_machine, others, guardtrap, tmp_path):
    box = small_machine(256)
    job = others([PYTHON, "-u", "-c", LATER, tmp_path / "go", 2000, "--rate", 100], box=box)
    watch = waiting(vigil, "watch", "--pid", job.pid, env=guardtrap("die"))
    (tmp_path / "go").touch()
    assert job.wait(30) == -signal.SIGKILL
    result = vigil.finish(watch, 30)
    assert result.status == 0, result
    assert "replayed" in json.dumps(vigil.why())


def test_a_job_that_is_run_and_watched_at_once_is_ended_once(vigil, small_machine, tmp_path):
    box = small_machine(256)
    run = vigil.start("run", "--", PYTHON, "-u", "-c", LATER, tmp_path / "go", 2000, "--rate", 300, box=box)
    job = wait_for(lambda: next((c for c in psutil.Process(run.pid).children() if c.cmdline()[:1] == [PYTHON]), None))
    watch = waiting(vigil, "watch", "--pid", job.pid)
    (tmp_path / "go").touch()
    ended, seen = vigil.finish(run, 60), vigil.finish(watch, 30)
    assert ended.status == 137, ended
    assert seen.status == 0, seen
    assert box.kernel_kills() == 0
    report_of(vigil, job.pid, "memory_kill")  # of whoever was first
    for text in (ended.text, seen.text):
        assert "sanitizer" not in text.lower() and "guard process died" not in text
    no_trace(vigil, box)


def test_two_watches_on_one_job_do_not_disturb_each_other(vigil, small_machine, others, tmp_path):
    box = small_machine(256)
    job = others([PYTHON, "-u", "-c", LATER, tmp_path / "go", 2000, "--rate", 300], box=box)
    watches = [waiting(vigil, "watch", "--pid", job.pid) for _ in range(2)]
    (tmp_path / "go").touch()
    assert job.wait(30) == -signal.SIGKILL
    for watch in watches:
        assert vigil.finish(watch, 30).status == 0
    report_of(vigil, job.pid, "memory_kill")  # one of them ended it, and says so
    assert box.kernel_kills() == 0
