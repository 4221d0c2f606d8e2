"""A real Ray: under `vigil run`, with its own memory monitor, and adopted by `vigil watch --ray`."""
import json
import os
import pathlib
import re
import signal
import time

import psutil
import pytest

from conftest import wait_for

SCRIPT = str(pathlib.Path(__file__).with_name("ray_train.py"))
KILLED = str(pathlib.Path(__file__).with_name("ray_killed.py"))
EXAMPLES = str(pathlib.Path(__file__).with_name("ray_examples.py"))
GIB = 1 << 30


@pytest.fixture
def train(vigil, ray, tmp_path):
    """train(*ARGS_OF_THE_SCRIPT, options=OPTIONS_OF_VIGIL): the job's Result."""
    def run(*args, options=(), box=None):
        return vigil("run", *options, "--", ray.python, "-u", SCRIPT, tmp_path, *args, prefix=ray.prefix, env=ray.env,
                     box=box, timeout=150)
    return run


def ended(report):
    return {c["name"] for c in report["candidates"] if c["chosen"]}


def alive_nodes(result):
    return json.loads(re.search(rb'^(\{"alive": .*\})$', result.out, re.M)[1])["alive"]


def test_the_leaking_task_is_ended_and_ray_runs_it_again(train, vigil, small_machine):
    box = small_machine(2048)
    result = train("--leak", "first", "--retries", 1, options=("--policy", "largest"), box=box)
    assert result.status == 0, result
    assert b"leak 1" in result.out, "Ray's own retry"
    assert b"steady 0" in result.out and b"steady 1" in result.out, "the other tasks ran through"
    assert alive_nodes(result) == [True], "raylet and gcs live on"
    assert box.kernel_kills() == 0
    report = vigil.why()
    assert (report["kind"], report["killer"]) == ("memory_kill", "vigil")
    assert report["victim"]["command"] == "ray::leak"
    assert ended(report) == {"ray::leak"} and report["action"]["processes_ended"] == 1
    roles = {p["command"]: p.get("role") for p in report["top"]}
    assert roles["ray::leak"] == "ray_worker"
    assert report["log_dir"]


def test_rays_agents_outlive_its_only_worker(train, vigil, small_machine):
    """The default policy looks at groups, and the agents are more than one worker; the raylet dies with an agent."""
    box = small_machine(2048)
    result = train("--leak", "always", "--retries", 0, "--steady", 0, box=box)
    assert b"the driver was told: WorkerCrashedError" in result.out, result
    assert alive_nodes(result) == [True]
    assert box.kernel_kills() == 0
    report = vigil.why()
    assert ended(report) == {"ray::leak"}
    others = [c["name"] for c in report["candidates"] if not c["chosen"]]
    assert others and all("starts others" in c["why"] for c in report["candidates"] if not c["chosen"])


def test_a_worker_that_the_kernel_kills_has_its_whole_name_and_its_id(train, vigil, ray, small_machine):
    """Nobody has looked at it before: the file of its output tells, found by its pid."""
    box = small_machine(1024)
    result = train("--leak", "always", "--retries", 0, "--steady", 0, "--name", "prepare all the pages", "--fail",
                   options=("--memory-threshold", 0), box=box)
    assert result.status == 1 and b"the driver was told: WorkerCrashedError" in result.out, result
    assert box.kernel_kills() > 0
    report = vigil.why()
    assert report["kind"] in ("cgroup_oom", "kernel_oom") and report["killer"] in ("cgroup", "kernel"), report
    victim = report["victim"]
    assert victim["name"] == victim["command"] == "ray::prepare all the pages", victim
    files = {p.name.split("-")[1]: int(p.stem.rsplit("-", 1)[1])
             for p in ray.folder.glob("r/ray/session_2*/logs/worker-*.out")}
    assert files[victim["ray_worker_id"]] == victim["pid"], victim
    assert re.fullmatch("[0-9a-f]{8}", victim["ray_job_id"]), victim


def test_a_task_that_ray_ends_for_memory_is_not_blamed_on_anybody_else(train, vigil):
    memory = psutil.virtual_memory()
    if memory.available < 6 * GIB:
        pytest.skip(f"Ray's monitor counts the whole machine's memory, and only {memory.available >> 20} MiB of it are free")
    ratio = (memory.total - memory.available + 2.5 * GIB) / memory.total
    result = train("--leak", "always", "--steady", 0, "--ray-monitor", ratio)
    assert result.status == 1, result
    assert b"OutOfMemoryError" in result.err
    report = vigil.why()
    assert (report["kind"], report["killer"]) == ("other_oom_daemon", "ray")
    assert report["cause"]["id"] == "ray_kill_worker"
    assert "leak" in report["summary"] and report["victim"]["name"] == "leak"
    assert report["memory"]["scope"] == "node" and abs(report["memory"]["ratio"] - ratio) < 0.05
    events = vigil("events", report["job"], "--json").out.decode()
    assert '"other_oom_daemon"' in events


def raylets():
    return [p for p in psutil.process_iter(["name"]) if p.info["name"] == "raylet"]


def started_head(ray, box, env):
    """A Ray node started by somebody else: (box, its raylet)."""
    # The node of the test before may still be ending.
    end = time.monotonic() + 15
    while raylets() and time.monotonic() < end:
        time.sleep(0.1)
    if raylets():
        pytest.skip("this machine already runs a Ray node, which vigil watch --ray would adopt as well")
    started = ray("start", "--head", "--node-ip-address=127.0.0.2", "--port=6399", "--num-cpus=1", "--disable-usage-stats",
                  f"--object-store-memory={80 << 20}", "--include-dashboard=false", env=env, box=box)
    assert started.returncode == 0, started.stdout + started.stderr
    # Its processes end with the box, by their ids: `ray stop` would look for names on the whole machine.
    return box, next(p for p in raylets() if p.pid in box.pids())


@pytest.fixture
def head(ray, small_machine):
    return started_head(ray, small_machine(2048), {"RAY_memory_monitor_refresh_ms": "0"})


def test_a_running_ray_node_is_watched_and_its_leaking_worker_ended(vigil, ray, head, tmp_path):
    box, raylet = head
    watch = vigil.start("watch", "--ray", box=box)
    job = wait_for(lambda: next(iter(vigil("jobs", "--json").out.splitlines()), None), 20, "the raylet to be adopted")
    job = json.loads(job)
    assert job["adopted"] and job["pid"] == raylet.pid
    driver = vigil.start("-u", SCRIPT, tmp_path, "--leak", "first", "--retries", 1, "--steady", 0,
                         "--address", "127.0.0.2:6399", binary=ray.python, env=ray.env, box=box, prefix=ray.prefix)
    result = vigil.finish(driver, 120)
    assert result.status == 0 and b"leak 1" in result.out, result
    assert alive_nodes(result) == [True]
    report = vigil.why()
    assert (report["kind"], report["killer"]) == ("memory_kill", "vigil")
    assert report["victim"]["command"] == "ray::leak" and ended(report) == {"ray::leak"}
    assert report["victim"]["pid"] == int((tmp_path / "attempt-0").read_text())
    assert report["victim"]["name"] == "ray::leak" and report["victim"]["ray_worker_id"], report["victim"]
    incident, = vigil.state.glob(f"jobs/{report['job']}/incidents/*.json")
    stored = wait_for(lambda: json.loads(incident.read_text()).get("ray_retry"), 30, "the retry in the stored report")
    report = vigil.why()
    again = report["ray_retry"]
    assert again == stored and report["stacks"], "what was in the report before stays there"
    assert (again["attempt"], again["retries_left"]) == (1, 0) and re.fullmatch("[0-9a-f]+", again["task_id"]), again
    assert vigil("why").out.count(b"Ray runs ray::leak again") == 1
    assert raylet.is_running() and box.kernel_kills() == 0
    watch.terminate()
    assert vigil.finish(watch, 20).status == 0


def test_a_node_without_workers_is_not_ended_for_what_others_hold(vigil, ray, head):
    """From the first look on, before the names of its programs were read."""
    box, raylet = head
    watch = vigil.start("watch", "--ray", "--memory-threshold", 0.005, box=box)
    wait_for(lambda: vigil("jobs", "--json").out, 20, "the raylet to be adopted")
    time.sleep(5)
    assert b'"memory_kill"' not in vigil("events", "--json").out
    assert raylet.is_running() and raylet.status() != psutil.STATUS_ZOMBIE
    watch.terminate()
    assert vigil.finish(watch, 20).status == 0


def test_calls_that_one_actor_of_an_adopted_node_serves_are_seen_at_its_program(vigil, ray, head, tmp_path):
    box, raylet = head
    watch = vigil.start("watch", "--ray", box=box)
    job = json.loads(wait_for(lambda: next(iter(vigil("jobs", "--json").out.splitlines()), None), 20, "the raylet to be adopted"))
    (tmp_path / "example").write_text("one_sleeper")
    driver = vigil.start("-u", EXAMPLES, "round", tmp_path, "127.0.0.2:6399", binary=ray.python, env=ray.env, box=box,
                         prefix=ray.prefix)
    wait_for((tmp_path / "round-one_sleeper").exists, 120, "the first round")
    found = {f["id"]: f for f in vigil("doctor", job["id"], "--for", 5, "--json").json()["findings"]}
    assert "one actor, sole (Sleeper) (" in found["one-worker"]["text"], found
    assert f"program {driver.pid} " in found["one-worker"]["text"], "the driver, which is not of the job"
    (tmp_path / "example").write_text("end")
    assert vigil.finish(driver, 60).status == 0
    watch.terminate()
    assert vigil.finish(watch, 20).status == 0


def test_a_worker_that_the_kernel_kills_while_its_node_goes_on_is_told_of(vigil, ray, head, tmp_path):
    box, raylet = head
    watch = vigil.start("watch", "--ray", "--memory-threshold", 0, box=box)
    wait_for(lambda: vigil("jobs", "--json").out, 20, "the raylet to be adopted")
    driver = vigil.start("-u", SCRIPT, tmp_path, "--leak", "first", "--retries", 1, "--steady", 0, "--name", "prepare all the pages",
                         "--address", "127.0.0.2:6399", binary=ray.python, env=ray.env, box=box, prefix=ray.prefix)
    result = vigil.finish(driver, 120)
    assert result.status == 0 and b"leak 1" in result.out, result
    assert box.kernel_kills() > 0 and raylet.is_running()
    incident = wait_for(lambda: next(iter(vigil.state.glob("jobs/*/incidents/*.json")), None), 30, "the report")
    again = wait_for(lambda: json.loads(incident.read_text()).get("ray_retry"), 30, "the retry in the report")
    report = vigil.why()
    assert report["kind"] in ("cgroup_oom", "kernel_oom") and report["killer"] in ("cgroup", "kernel"), report
    victim = report["victim"]
    assert victim["pid"] == int((tmp_path / "attempt-0").read_text())
    assert victim["name"] == "ray::prepare all the pages" and re.fullmatch("[0-9a-f]{56}", victim["ray_worker_id"]), victim
    assert (again["attempt"], again["retries_left"]) == (1, 0), again
    watch.terminate()
    assert vigil.finish(watch, 20).status == 0


def test_a_worker_that_ray_kills_for_memory_while_its_node_goes_on_is_told_of(vigil, ray, small_machine, tmp_path):
    """By what the raylet writes of it: Ray tries the task again, so its program is told nothing."""
    memory = psutil.virtual_memory()
    if memory.available < 6 * GIB:
        pytest.skip(f"Ray's monitor counts the whole machine's memory, and only {memory.available >> 20} MiB of it are free")
    ratio = (memory.total - memory.available + 2.5 * GIB) / memory.total
    env = {"RAY_memory_monitor_refresh_ms": "100", "RAY_memory_usage_threshold": f"{ratio:.4f}"}
    box, raylet = started_head(ray, small_machine(6 * 1024), env)
    watch = vigil.start("watch", "--ray", "--memory-threshold", 0, box=box)
    wait_for(lambda: vigil("jobs", "--json").out, 20, "the raylet to be adopted")
    driver = vigil.start("-u", SCRIPT, tmp_path, "--leak", "first", "--retries", 1, "--steady", 0, "--name",
                         "prepare all the pages", "--address", "127.0.0.2:6399", binary=ray.python, env=ray.env, box=box,
                         prefix=ray.prefix)
    result = vigil.finish(driver, 120)
    assert result.status == 0 and b"leak 1" in result.out, result
    incident = wait_for(lambda: next(iter(vigil.state.glob("jobs/*/incidents/*.json")), None), 30, "the report")
    report = json.loads(incident.read_text())
    assert (report["kind"], report["killer"]) == ("other_oom_daemon", "ray"), report
    assert report["victim"]["pid"] == int((tmp_path / "attempt-0").read_text())
    assert report["victim"]["name"] == "ray::prepare all the pages", report["victim"]
    assert report["memory"]["scope"] == "node" and abs(report["memory"]["ratio"] - ratio) < 0.05, report["memory"]
    assert json.loads(vigil("why", "prepare all the pages", "--json").out)["id"] == report["id"]
    assert len(list(vigil.state.glob("jobs/*/incidents/*.json"))) == 1
    assert box.kernel_kills() == 0 and raylet.is_running()
    watch.terminate()
    assert vigil.finish(watch, 20).status == 0


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_that_somebody_ends_while_its_node_goes_on_is_told_of(vigil, ray, head, tmp_path, sent):
    """Those that Ray ends itself, when their program is over, are not."""
    box, raylet = head
    watch = vigil.start("watch", "--ray", box=box)
    wait_for(lambda: vigil("jobs", "--json").out, 20, "the raylet to be adopted")
    driver = vigil.start("-u", KILLED, tmp_path, "127.0.0.2:6399", binary=ray.python, env=ray.env, box=box, prefix=ray.prefix)
    pid = int(wait_for((tmp_path / "life-0").exists, 60, "the actor") and (tmp_path / "life-0").read_text())
    wait_for(lambda: "Leaky.eat" in vigil("ps", "--json").out.decode(), 30, "its title")
    os.kill(pid, sent)
    incident = wait_for(lambda: next(iter(vigil.state.glob("jobs/*/incidents/*.json")), None), 40, "the report")
    if sent == signal.SIGKILL:  # who handles SIGTERM may leave as if by itself, and then Ray does not start it again
        wait_for((tmp_path / "life-1").exists, 60, "Ray's own restart")
        (tmp_path / "go").touch()
        result = vigil.finish(driver, 60)
        assert result.status == 0 and b"eaten" in result.out, result
    else:
        driver.kill()
        vigil.finish(driver, 20)
    report = json.loads(incident.read_text())
    assert (report["kind"], report["killer"]) == ("killed_by", "signal"), report
    names = ("ray::Leaky.eat",) if sent == signal.SIGKILL else ("ray::Leaky.eat", "ray::Leaky")  # who handles it leaves its method first
    assert report["victim"]["pid"] == pid and report["victim"]["name"] in names, report["victim"]
    assert sent.name in report["summary"] and f"pid {os.getpid()}," in report["summary"], report["summary"]
    for what in ("Leaky", "Leaky.eat", pid):
        assert json.loads(vigil("why", what, "--json").out)["id"] == report["id"], what
    event, = [e for e in map(json.loads, vigil("events", report["job"], "--json").out.splitlines()) if e["kind"] == "killed_by"]
    assert "Ray itself may start it again" in event["text"], event
    time.sleep(8)  # the workers of the program that is over, which its raylet has ended
    assert len(list(vigil.state.glob("jobs/*/incidents/*.json"))) == 1
    assert raylet.is_running()
    watch.terminate()
    assert vigil.finish(watch, 20).status == 0


def test_workers_that_end_with_their_node_are_not_told_of(vigil, ray, head, tmp_path):
    """As `ray stop` ends a node: by SIGTERM to all of it. The raylet is slower than its workers."""
    box, raylet = head
    watch = vigil.start("watch", "--ray", box=box)
    wait_for(lambda: vigil("jobs", "--json").out, 20, "the raylet to be adopted")
    driver = vigil.start("-u", KILLED, tmp_path, "127.0.0.2:6399", binary=ray.python, env=ray.env, box=box, prefix=ray.prefix)
    wait_for((tmp_path / "life-0").exists, 60, "the actor")
    wait_for(lambda: "Leaky.eat" in vigil("ps", "--json").out.decode(), 30, "its title")
    time.sleep(6)  # a sample, which knows the folder of Ray's logs
    raylet.suspend()
    for p in [*raylet.children(), raylet]:
        p.terminate()
    time.sleep(5)
    raylet.resume()
    wait_for(lambda: b'"job_end"' in vigil("events", "--json").out, 40, "the end of the node")
    time.sleep(2)  # what a worker's report would take
    watch.terminate()
    assert vigil.finish(watch, 20).status == 0
    assert not list(vigil.state.glob("jobs/*/incidents/*.json"))
    driver.kill()
    vigil.finish(driver, 20)
