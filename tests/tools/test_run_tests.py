"""The sum at the end of `make test` counts what happened and forgets nothing."""
import importlib.machinery
import importlib.util
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load():
    loader = importlib.machinery.SourceFileLoader("run_tests", str(ROOT / "tools/run-tests"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", loader))
    loader.exec_module(module)
    return module


def tally(tmp_path, *tests):
    log = tmp_path / "testlog.json"
    log.write_text("".join(json.dumps({"name": "t", "returncode": 0, **t}) + "\n" for t in tests))
    return load().tally_meson(log)


def test_subtests_are_counted_one_by_one(tmp_path):
    t = tally(tmp_path, {"result": "FAIL", "stdout": "1..4\nok 1 - a\nnot ok 2 - b\nok 3 # SKIP no root\nnot ok 4 # SKIP c\n"})
    assert (t.passed, t.failed, len(t.skipped)) == (1, ["t: b"], 2)
    assert "no root" in t.skipped[0]


def test_a_program_without_subtests_is_one(tmp_path):
    t = tally(tmp_path, {"result": "OK", "stdout": "hello\n"}, {"result": "TIMEOUT"}, {"result": "SKIP", "stdout": "no cgroup\n"})
    assert (t.passed, t.failed, t.skipped) == (1, ["t: timeout, exit status 0"], ["t (no cgroup)"])


def test_a_crash_after_good_subtests_is_a_failure(tmp_path):
    t = tally(tmp_path, {"result": "ERROR", "returncode": -11, "stdout": "1..2\nok 1 - a\n"})
    assert (t.passed, t.failed) == (1, ["t: error, exit status -11"])


def test_pytest_results_are_read(tmp_path):
    xml = tmp_path / "r.xml"
    xml.write_text('<testsuites><testsuite><testcase classname="m" name="a"/>'
                   '<testcase classname="m" name="b"><failure/></testcase>'
                   '<testcase classname="m" name="c"><error/></testcase>'
                   '<testcase classname="m" name="d"><skipped message="no qemu"/></testcase></testsuite></testsuites>')
    t = load().tally_pytest(xml, "e2e")
    assert (t.passed, t.failed, t.skipped) == (1, ["m::b", "m::c"], ["m::d (no qemu)"])


def runs(module, monkeypatch, *results):
    """pytest_once answers so, one after the other: (how many passed, names of those that failed). What it was asked for."""
    asked, left = [], list(results)

    def once(label, args, env):
        asked.append(args)
        t = module.Tally()
        t.passed, t.failed = left.pop(0)
        return t
    monkeypatch.setattr(module, "pytest_once", once)
    return asked


ONE, TWO, THREE = (f"tests.tools.test_run_tests::{n}" for n in ("one[a::b]", "two", "three"))
PATH = "tests/tools/test_run_tests.py"


def test_what_fails_is_run_again_twice_and_passes_only_by_name(monkeypatch):
    module = load()
    first = module.Tally()
    first.passed, first.failed = 10, [ONE, TWO, THREE]
    asked = runs(module, monkeypatch, (1, [TWO, THREE]), (1, [THREE]))
    module.again("e2e", first, None)
    assert asked == [[f"{PATH}::one[a::b]", f"{PATH}::two", f"{PATH}::three"], [f"{PATH}::two", f"{PATH}::three"]]
    assert (first.passed, first.failed, first.unsteady) == (12, [THREE], [ONE, TWO])
    assert first.line() == "12 passed, 1 failed, 0 skipped, 2 of the passed unsteady"


def test_nothing_is_run_again_that_has_passed(monkeypatch):
    module = load()
    first = module.Tally()
    first.passed, first.failed = 10, [ONE]
    asked = runs(module, monkeypatch, (1, []))
    module.again("e2e", first, None)
    assert len(asked) == 1 and (first.passed, first.failed, first.unsteady) == (11, [], [ONE])


def test_a_phase_beside_the_others_is_begun_once_and_its_result_fetched():
    module = load()
    begun = []
    beside = module.Beside(lambda: begun.append(1) or module.failed("it does not build"))
    beside.begin()
    assert beside().failed == ["it does not build"] and begun == [1]
    late = module.Beside(module.Tally)
    assert late().failed == []
    assert module.Beside(lambda: None)().failed == ["it ended without a result"]


def test_many_failures_and_broken_phases_are_not_run_again(monkeypatch):
    module = load()
    monkeypatch.setattr(module, "pytest_once", lambda *_: pytest_must_not_run())
    for failed in ([f"tests.tools.test_run_tests::t{i}" for i in range(module.AGAIN_MOST + 1)], ["e2e: pytest ended with status 2"], []):
        tally = module.Tally()
        tally.failed = list(failed)
        module.again("e2e", tally, None)
        assert tally.failed == failed and not tally.unsteady


def pytest_must_not_run():
    raise AssertionError("it was run")


def meson_runs(module, monkeypatch, first, second):
    asked, left = [], [first, second]

    def once(directory, suites, env=None, names=()):
        asked.append(list(names))
        t = module.Tally()
        t.passed, t.failed = left.pop(0)
        return t
    monkeypatch.setattr(module, "meson_once", once)
    return module.meson_tests("build", ["unit"]), asked


def test_a_subtest_that_fails_is_run_again_with_its_program(monkeypatch):
    t, asked = meson_runs(load(), monkeypatch, (10, ["sense/a: x", "sense/b: y"]), (7, ["sense/b: y"]))
    assert asked == [[], ["sense/a", "sense/b"]]
    assert (t.passed, t.failed, t.unsteady) == (11, ["sense/b: y"], ["sense/a: x"])


def test_a_program_that_crashed_or_is_too_many_is_not_run_again(monkeypatch):
    module = load()
    for failed in (["sense/a: error, exit status -11"], ["sense/a: x", "sense/b: fail, exit status 1"], ["meson test in build: exit status 2"],
                   [f"sense/a: {i}" for i in range(module.AGAIN_MOST + 1)]):
        t, asked = meson_runs(module, monkeypatch, (10, failed), (10, []))
        assert (t.failed, len(asked)) == (failed, 1)


def test_a_program_that_crashes_when_it_is_run_again_has_failed(monkeypatch):
    t, _ = meson_runs(load(), monkeypatch, (10, ["sense/a: x"]), (0, ["sense/a: error, exit status -11"]))
    assert t.failed == ["sense/a: x"] and not t.unsteady
