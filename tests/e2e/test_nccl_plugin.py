"""vigil run --collectives: NCCL, played by a program, loads the plugin that the environment names."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest

from conftest import wait_for

RANKS = 4


@pytest.fixture
def player(binary):
    path = binary.parents[2] / "tests/tool/ncclplay"
    if not path.exists():
        pytest.skip(f"{path} is not built")
    return path


def missing(view, status, culprit, number):
    assert (view["kind"], view["culprit_ranks"], view["confidence"], view["number"]) == ("missing", [culprit], "high", number), view
    assert any(e["source"] == "NCCL profiler ring" for e in view["evidence"]), view
    assert status == 1


def rings(vigil):
    return sorted(vigil.state.glob("jobs/*/attempt-*/nccl/ring.*"))


def shared_folders(vigil):
    """Of this test's jobs: others run beside it."""
    jobs = [job.name for job in vigil.state.glob("jobs/*")]
    assert jobs
    return [f for f in pathlib.Path("/dev/shm").glob("vigil-nccl-*") if any(f"-{job}-" in f.name for job in jobs)]


def test_the_rank_that_did_not_join_is_named_by_the_rings(vigil, player):
    # that rank waits for a signal, so that it may still come: nothing is proved
    p = vigil.start("run", "--collectives", "--hang-after", "4s", "--on-hang", "kill", "--on-hang-needs", "medium",
                    "--nproc", RANKS, "--", player, "--culprit", 2, "--at", 40)

    def asked():
        r = vigil("collectives", "last", "--json")
        # while they come, others are missing for a moment
        return r if r.status == 1 and r.json().get("culprit_ranks") == [2] and r.json()["number"] == 41 else None
    r = wait_for(asked, 60, "the hang to be in the rings")
    missing(r.json(), r.status, 2, 41)
    result = vigil.finish(p, 90)
    assert result.status == 124 and result.out.count(b"plugin /") == RANKS and b"version 6" in result.out, result
    report = vigil.why()
    assert (report["cause"]["id"], report["culprit_ranks"], report["cause"]["confidence"]) == ("missing_rank", [2], "medium"), report
    assert "all_reduce number 41" in report["cause"]["text"]
    # it has ended: its rings are in the state directory, and shared memory is as it was
    assert len(rings(vigil)) == RANKS and not shared_folders(vigil)
    assert sum(f.stat().st_blocks * 512 for f in rings(vigil)) < RANKS * 200_000, "empty slots take no room"
    r = vigil("collectives", "last", "--json")
    missing(r.json(), r.status, 2, 41)


def test_the_way_leads_on_from_the_rank_that_did_not_join(vigil, player):
    """The others go round for their GPUs, and by the library's own counters they wait for it: one graph has both."""
    p = vigil.start("run", "--collectives", "--hang-after", "4s", "--on-hang", "kill", "--nproc", 3, "--", player, "--culprit",
                    1, "--at", 40, "--spin", "--reads")
    result = vigil.finish(p, 120)
    report = vigil.why()
    assert result.status == 124 and report["culprit_ranks"] == [1], report
    assert (report["cause"]["id"], report["cause"]["confidence"]) == ("orphaned_wait", "high"), report["cause"]
    assert "Ranks 0, 2 → rank 1 (" in report["cause"]["text"], report["cause"]


def test_a_running_job_is_asked_for_its_counters_as_well(vigil, player):
    p = vigil.start("run", "--collectives", "--hang-after", "1000s", "--nproc", 3, "--", player, "--culprit", 1, "--at", 40, "--spin", "--reads")

    def told():
        text = vigil("waits", "last").out.decode()
        return text if "ranks 0, 2 → rank 1 (" in text else None
    text = wait_for(told, 60, "the way to the rank that did not come")
    assert "all_reduce number 41" in text, text
    p.send_signal(signal.SIGTERM)
    assert vigil.finish(p, 30).status != 0


def test_without_the_option_nothing_is_loaded(vigil, player):
    result = vigil("run", "--nproc", 2, "--", player, "--at", 2, "--end")
    assert result.status == 0 and result.out.count(b"plugin none") == 2, result
    assert not rings(vigil)


def test_the_users_own_plugin_stays(vigil, player):
    env = {"NCCL_PROFILER_PLUGIN": "inspector"}
    result = vigil("run", "--collectives", "--nproc", 2, "--", sys.executable, "-c",
                   "import os; e = os.environ; os.write(1, f\"{e['NCCL_PROFILER_PLUGIN']} {e.get('VIGIL_NCCL_RING')}\\n\".encode())",
                   env=env)
    assert result.status == 0 and result.out.count(b"inspector None") == 2, result
    assert "NCCL_PROFILER_PLUGIN is set to inspector, which stays" in result.text


def test_the_plugin_named_by_the_user_gets_a_place(vigil, player, binary):
    env = {"NCCL_PROFILER_PLUGIN": binary.parents[2] / "plugins/nccl/libvigil-nccl.so"}
    result = vigil("run", "--collectives", "--", player, "--at", 2, "--end", env=env)
    assert result.status == 0 and b"plugin /" in result.out, result
    assert len(rings(vigil)) == 1 and "stays" not in result.text


def test_a_switch_of_the_environment_and_of_the_configuration(vigil, player, tmp_path):
    result = vigil("run", "--", player, "--at", 2, "--end", env={"VIGIL_COLLECTIVES": "1"})
    assert result.status == 0 and len(rings(vigil)) == 1, result
    config = tmp_path / "vigil.yaml"
    config.write_text("run:\n  collectives: true\n")
    result = vigil("run", "--", player, "--at", 2, "--end", env={"VIGIL_CONFIG": config})
    assert result.status == 0 and len(rings(vigil)) == 2, result


def test_each_attempt_keeps_its_own(vigil, player, tmp_path):
    """A second attempt's rings are what `collectives JOB` reads; those of the first stay beside them."""
    script = f'test -e {tmp_path}/again && exec "$0" --at 3 --end; touch {tmp_path}/again; "$0" --at 2 --end; exit 7'
    result = vigil("run", "--collectives", "--retries", 1, "--retry-on", "any", "--backoff", "10ms", "--nproc", 1, "--", "sh", "-c",
                   script, player)
    assert result.status == 0, result
    assert [f.parents[1].name for f in rings(vigil)] == ["attempt-0", "attempt-1"]
    r = vigil("collectives", "last", "--json")
    assert r.status == 0 and r.json()["kind"] == "none", r


def test_a_job_without_nccl_leaves_nothing(vigil):
    result = vigil("run", "--collectives", "--", "/bin/true")
    assert result.status == 0 and not list(vigil.state.glob("jobs/*/attempt-0/nccl")) and not shared_folders(vigil)
    assert vigil("run", "--collectives", "--", "/no/such/program").status == 127 and not shared_folders(vigil)


def test_an_installed_vigil_finds_it(vigil, binary, player, tmp_path):
    """Beside the program, in the folder of libraries that the build was set up for, and in plain lib."""
    built = binary.parents[2]
    libdir = next(o["value"] for o in json.loads((built / "meson-info/intro-buildoptions.json").read_text()) if o["name"] == "libdir")
    for folder in {libdir, "lib"}:
        root = tmp_path / folder.replace("/", "-")
        (root / folder / "vigil").mkdir(parents=True)
        (root / "bin").mkdir()
        shutil.copy(binary, root / "bin/vigil")
        away = vigil("run", "--collectives", "--", player, "--at", 1, "--end", binary=root / "bin/vigil")
        assert away.status == 125 and "libvigil-nccl.so is not in" in away.text and libdir in away.text, away
        shutil.copy(built / "plugins/nccl/libvigil-nccl.so", root / folder / "vigil")
        found = vigil("run", "--collectives", "--", player, "--at", 1, "--end", binary=root / "bin/vigil")
        assert found.status == 0 and str(root).encode() in found.out, found
