"""A real Ray in which something waits for a place or an actor that never comes free, and some where it takes a while."""
import pathlib

import pytest

SCRIPT = str(pathlib.Path(__file__).with_name("ray_places.py"))


@pytest.fixture
def places(vigil, ray):
    """places(WHAT, *OPTIONS_OF_VIGIL): the job's Result."""
    def run(what, *options, timeout=200):
        return vigil("run", *options, "--", ray.python, "-u", SCRIPT, what, prefix=ray.prefix, env=ray.env, timeout=timeout)
    return run


@pytest.mark.parametrize("what, says", [
    ("actors", ("a task or actor of {'CPU': 1.0}", "0 of 2 CPU are free", "(Rollout, which has nothing to do)")),
    ("nested", ("2 tasks or actors of {'slot': 1.0}", "(fold, which waits in ray.get() itself)", "Nobody is left")),
    ("group", ("a placement group of {'CPU': 1.0} * 4 (PACK)", "4 of CPU are wanted, and there is one node, with 2 in all")),
])
def test_what_has_no_place_is_told(places, vigil, what, says):
    result = places(what, "--on-hang", "kill", "--on-hang-needs", "high")
    assert result.status == 124, result
    report = vigil.why()
    assert (report["kind"], report["cause"]["id"], report["cause"]["confidence"]) == ("hang", "ray_no_place", "high"), report
    assert "waits in ray.get() at ray_places.py:" in report["cause"]["text"], report
    for text in says:
        assert text in report["cause"]["text"], report
    assert not report.get("culprit_ranks") and report["cause"]["advice"], report


@pytest.mark.parametrize("what, says", [
    ("circle", ("The actor stage 1 (Loops) in process", "in Loops.ask_back for the task relay in process",
                "The task relay in process", "waits in ray.wait() at",
                "in relay for a call of the actor stage 0 (Stage) in process", "None of them can go on")),
    ("own", ("in Stage.ask, with all 2 threads that run its calls, for a call of its own", "It cannot begin")),
])
def test_actors_that_wait_for_calls_of_each_other_are_told(places, vigil, what, says):
    result = places(what, "--on-hang", "kill", "--on-hang-needs", "high")
    assert result.status == 124, result
    report = vigil.why()
    assert (report["kind"], report["cause"]["id"], report["cause"]["confidence"]) == ("hang", "ray_actors_wait", "high"), report
    for text in says:
        assert text in report["cause"]["text"], report


@pytest.mark.parametrize("what, says", [("behind", b"all 4"), ("asleep", b"all 4"), ("later", b"ready True"),
                                        ("spare", b"all 2")])
def test_what_waits_behind_work_is_well(places, vigil, what, says):
    """Longer than it takes to tell of one that hangs."""
    result = places(what, "--on-hang", "kill", "--on-hang-needs", "medium")
    assert result.status == 0 and says in result.out, result
    assert not list(vigil.state.glob("jobs/*/incidents/*.json")), "nothing is told"
