"""Ray's tasks and actors by the names that their users gave them, in each command that shows or takes processes."""
import json
import pathlib
import subprocess

import pytest

from conftest import wait_for

SCRIPT = pathlib.Path(__file__).with_name("ray_names.py")
TRAIN = pathlib.Path(__file__).with_name("ray_ranks.py")
TURNS = pathlib.Path(__file__).with_name("ray_turns.py")


def pids(folder, name):
    return sorted(int(p.name.rsplit("-", 1)[1]) for p in folder.glob(f"{name}-*"))


def begin(vigil, ray, folder):
    """vigil run of the script, once all its tasks and actors are at work; {name: their pids}."""
    job = vigil.start("run", "--name", "pages", "--", ray.python, "-u", SCRIPT, folder, prefix=ray.prefix, env=ray.env)
    wait_for(lambda: len(pids(folder, "preprocess")) == 3 and pids(folder, "learn") and
             pids(folder, "ask") and pids(folder, "quiet"), 120,
             "Ray's tasks and actors to begin")
    return job, {name: pids(folder, name) for name in ("preprocess", "learn", "ask", "quiet")}


def lines(result):
    return [json.loads(line) for line in result.out.splitlines()]


def shown(result):
    assert result.status == 0, result
    return sorted(p["pid"] for p in result.json()["processes"])


def parts(node, kind):
    return {part["name"]: part for part in node["components"] if part["kind"] == kind}


def test_commands_show_and_take_the_names_of_tasks_and_actors(vigil, ray, tmp_path):
    job, at = begin(vigil, ray, tmp_path)

    def workers():
        return {p["pid"]: p["command"] for p in lines(vigil("ps", "pages", "--json")) if p["role"] == "ray_worker"}
    titles = wait_for(lambda: workers().get(at["quiet"][0]) == "ray::Quiet" and workers(), 20, "Quiet.hello to have ended")
    assert titles[at["learn"][0]] == "ray::Learner.learn", "the whole title, not the kernel's 15 bytes"
    assert sorted(titles[pid] for pid in at["preprocess"]) == ["ray::preprocess", "ray::preprocess", "ray::sort pages"]
    assert all(title.startswith("ray::") for title in titles.values()), titles
    named = {p["pid"]: p["ray"]["actor_name"] for p in lines(vigil("ps", "pages", "--json")) if "actor_name" in p.get("ray", {})}
    assert named == {at["learn"][0]: "critic"}, "Quiet has no name of its own"
    assert b"actor critic: ray::Learner.learn" in vigil("ps", "pages").out
    assert {p["command"] for p in vigil("mem", "pages", "--json").json()["processes"]} >= set(titles.values())

    sorting = next(pid for pid, title in titles.items() if title == "ray::sort pages")
    two = sorted(set(at["preprocess"]) - {sorting})
    assert shown(vigil("stack", "preprocess", "--json")) == two
    for name in ("Learner", "Learner.learn", "ray::Learner", "critic"):
        stack = vigil("stack", name, "--json")
        assert shown(stack) == at["learn"]
        assert stack.json()["processes"][0]["actor_name"] == "critic"
        assert any(f["name"].endswith("learn") for t in stack.json()["processes"][0]["threads"] for f in t["frames"])
    assert shown(vigil("mem", "sort pages", "--json")) == [sorting]
    assert shown(vigil("mem", "preprocess", "--json")) == two
    waits = vigil("waits", "Learner", "--seconds", "0", "--json")
    assert waits.status == 0 and [p["pid"] for p in waits.json()["processes"]] == at["learn"], waits
    waits = vigil("waits", "preprocess", "--seconds", "0", "--json").json()
    assert waits["mains"] == 2 and sorted(p["pid"] for p in waits["processes"]) == two, waits
    whole = vigil("waits", "pages", "--seconds", "0", "--json").json()
    main = next(p for p in whole["processes"] if p["main"])["threads"][0]
    assert main["waiting_on"].startswith("ray.get() at ray_names.py:") and main["hint"]["kind"] == "result", main
    assert main["hint"]["owner_text"] in ("runs this call of the actor critic (Learner)", "runs the task preprocess",
                                          "runs the task sort pages"), main
    assert sorted(a["to"]["pid"] for a in main["arrows"] if a["kind"] == "result") == sorted(at["learn"] + at["preprocess"])
    asker, = (p for p in whole["processes"] if p["pid"] == at["ask"][0])
    loop, = (t for t in asker["threads"] if t.get("waiting_on", "").startswith("await of a reference"))
    assert [(a["to"]["pid"], a["quality"]) for a in loop["arrows"]] == [(at["learn"][0], "likely")], loop
    flame = vigil("flame", "preprocess", "-d", "1", "--format", "json")
    assert flame.status == 0 and {lane["pid"] for lane in flame.json()["lanes"]} == set(two), flame.err

    node = next(n for n in vigil("mem", "pages", "--json").json()["ray"])
    assert node["raylet_pid"] in {p["pid"] for p in lines(vigil("ps", "pages", "--json"))}, node
    workers_now = parts(node, "worker")
    assert workers_now["preprocess"]["processes"] == 2 and workers_now["sort pages"]["processes"] == 1, workers_now
    assert workers_now["Learner.learn"]["own_bytes"] > 10 << 20 and workers_now["Quiet"]["processes"] == 1
    assert {"gcs_server"} == set(parts(node, "gcs_server")) and {"DashboardAgent", "RuntimeEnvAgent"} <= set(parts(node, "agent"))
    store = node["object_store"]
    assert store["limit_bytes"] == 80 << 20 and 20 << 20 <= store["bytes"] <= 81 << 20, store
    folder = pathlib.Path(store["spill_folder"])
    on_disk = sum(p.stat().st_blocks * 512 for p in folder.iterdir())
    assert store["spilled_bytes"] == on_disk >= 80 << 20 and store["spilled_files"] == len(list(folder.iterdir())), store
    text = vigil("mem", "pages").out.decode()
    assert f"Ray node 127.0.0.2, {node['session']}" in text and "80.0 MiB taken up in shared memory" in text, text

    one_is_expected = vigil("heap", "preprocess")
    assert one_is_expected.status != 0 and one_is_expected.err.count(b"\n") == 1, one_is_expected
    assert all(f"{pid} (preprocess)".encode() in one_is_expected.err for pid in two), one_is_expected.err
    nobody = vigil("stack", "preproces")
    assert nobody.status == 4 and b"no Ray worker runs a task or actor of that name" in nobody.err

    (tmp_path / "end").touch()
    result = vigil.finish(job, 60)
    assert result.status == 0 and b"done" in result.out, result


def test_the_doctor_calls_an_actor_by_its_name(vigil, ray, tmp_path):
    job = vigil.start("run", "--name", "turns", "--", ray.python, "-u", TURNS, tmp_path, prefix=ray.prefix, env=ray.env)
    wait_for(lambda: len(list(tmp_path.glob("learn-*"))) == 2, 120, "both calls of the actor to begin")
    pid, = {int(p.name.rsplit("-", 1)[1]) for p in tmp_path.glob("learn-*")}
    seen = vigil("doctor", "turns", "--for", 5, "--json").json()
    assert {p["pid"]: p["actor"] for p in seen["watched"]["processes"] if "actor" in p} == {pid: "critic (Learner)"}
    found = {f["id"]: f["text"] for f in seen["findings"]}
    assert f"threads of actor critic (Learner) (process {pid}) take turns" in found["gil-bound"], found
    (tmp_path / "end").touch()
    result = vigil.finish(job, 60)
    assert result.status == 0 and b"done" in result.out, result


def test_workers_of_ray_train_have_their_ranks(vigil, ray, tmp_path):
    needed = subprocess.run([ray.python, "-c", "import ray.train"], capture_output=True, text=True)
    if needed.returncode:
        pytest.skip(f"Ray Train is not installed: {needed.stderr.strip().splitlines()[-1]}; tools/setup frameworks does it")
    job = vigil.start("run", "--name", "ranks", "--", ray.python, "-u", TRAIN, tmp_path, prefix=ray.prefix, env=ray.env)
    wait_for(lambda: len(list(tmp_path.glob("rank-*"))) == 2, 120, "both ranks to train")
    expected = {int(p.name.split("-")[2]): int(p.name.split("-")[1]) for p in tmp_path.glob("rank-*")}
    assert sorted(expected.values()) == [0, 1]
    logs = {int(p.stem.rsplit("-", 1)[1]): p.name.split("-") for p in ray.folder.glob("r/ray/session_latest/logs/worker-*.out")}
    for row in lines(vigil("ps", "ranks", "--json")):
        if row["pid"] in expected:
            assert row["ray"]["worker_id"] == logs[row["pid"]][1], row
    for command in ("ps", "mem"):
        told = vigil(command, "ranks", "--json")
        rows = lines(told) if command == "ps" else told.json()["processes"]
        workers = {p["pid"]: p.get("rank") for p in rows if p["role"] == "ray_worker"}
        assert {pid: rank for pid, rank in workers.items() if rank is not None} == expected, (command, workers)
    stack = vigil("stack", "RayTrainWorker", "--json").json()["processes"]
    assert {p["pid"]: p["rank"] for p in stack} == expected
    (tmp_path / "end").touch()
    result = vigil.finish(job, 60)
    assert result.status == 0 and b"done" in result.out, result


def test_two_runs_of_ray_train_at_once_have_their_numbers_by_run(vigil, ray, tmp_path):
    needed = subprocess.run([ray.python, "-c", "import ray.train"], capture_output=True, text=True)
    if needed.returncode:
        pytest.skip(f"Ray Train is not installed: {needed.stderr.strip().splitlines()[-1]}; tools/setup frameworks does it")
    job = vigil.start("run", "--name", "two", "--", ray.python, "-u", TRAIN, tmp_path, "red", "blue", prefix=ray.prefix,
                      env=ray.env)
    wait_for(lambda: len(list(tmp_path.glob("rank-*"))) == 4, 150, "all ranks to train")
    expected = {int(p.name.split("-")[2]): (p.name.split("-")[3], int(p.name.split("-")[1])) for p in tmp_path.glob("rank-*")}
    assert sorted(expected.values()) == [("blue", 0), ("blue", 1), ("red", 0), ("red", 1)]
    rows = {p["pid"]: p for p in lines(vigil("ps", "two", "--json"))}
    told = {pid: (rows[pid]["ray"]["train_run"], rows[pid]["ray"]["train_rank"]) for pid in expected}
    assert told == expected
    ranks = [row["rank"] for row in rows.values() if "rank" in row and row["pid"] in expected]
    assert len(ranks) == len(set(ranks)), "no rank of the job is two processes"
    (tmp_path / "end").touch()
    result = vigil.finish(job, 60)
    assert result.status == 0 and b"done" in result.out, result
