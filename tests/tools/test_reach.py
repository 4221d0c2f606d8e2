"""What `tools/run-tests --changed` would run."""
import importlib.util
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("reach", ROOT / "tools/reach.py")
reach = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reach)


@pytest.fixture
def tree(tmp_path):
    """A tree of three layers, in which sense/a is used by model/b, and by nothing else."""
    files = {
        "src/base/text.h": "", "src/base/text.c": '#include "base/text.h"\n',
        "src/sense/net/a.h": '#include "base/text.h"\n', "src/sense/net/a.c": '#include "sense/net/a.h"\n',
        "src/sense/net/a_more.c": '#include "sense/net/a.h"\n#include "sense/net/inner.h"\n',
        "src/sense/net/inner.h": "",
        "src/model/jobs/b.h": "", "src/model/jobs/b.c": '#include "model/jobs/b.h"\n#include "sense/net/a.h"\n',
        "src/cli/jobs/ps.c": '#include "model/jobs/b.h"\n', "src/cli/options/option.c": "",
        "tests/unit/sense/test_a.c": '#include "sense/net/a.h"\n', "tests/unit/model/test_b.c": '#include "model/jobs/b.h"\n',
        "tests/unit/base/test_text.c": '#include "base/text.h"\n',
        "tests/fuzz/fuzz_a.c": '#include "sense/net/a.h"\n',
        "tests/e2e/test_hang.py": "", "tests/e2e/test_notify.py": "", "tests/e2e/test_ps.py": "",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize("changed, unit", [
    ("src/base/text.c", {"base/text", "sense/a", "model/b"}),
    ("src/base/text.h", {"base/text", "sense/a", "model/b"}),
    ("src/sense/net/a.c", {"sense/a", "model/b"}),
    ("src/sense/net/a_more.c", {"sense/a", "model/b"}),
    ("src/sense/net/inner.h", {"sense/a", "model/b"}),
    ("src/model/jobs/b.c", {"model/b"}),
    ("tests/unit/base/test_text.c", {"base/text"}),
    ("docs/HACKING.md", set()),
])
def test_unit_tests_are_those_whose_sources_need_the_file(tree, changed, unit):
    assert reach.reach(tree, [changed])["unit"] == unit


def test_a_seed_reaches_its_driver_alone(tree):
    found = reach.reach(tree, ["tests/fuzz/corpus/a/seed"])
    assert (found["fuzz"], found["unit"], found["e2e"]) == ({"a"}, set(), set())


@pytest.mark.parametrize("changed, e2e", [
    ("src/sense/net/a.c", {"test_hang.py"}),
    ("src/tell/notify/mail.c", {"test_notify.py"}),
    ("src/cli/jobs/ps.c", {"test_ps.py"}),
    ("src/cli/options/option.c", None),
    ("src/base/text.c", None),
    ("src/agent/run/supervise.c", None),
    ("tests/e2e/test_notify.py", {"test_notify.py"}),
    ("tests/e2e/conftest.py", None),
    ("README.md", set()),
])
def test_end_to_end_tests_go_by_the_room(tree, changed, e2e):
    assert reach.reach(tree, [changed])["e2e"] == e2e


def test_every_pattern_of_the_table_names_a_test():
    names = [p.name for p in (ROOT / "tests/e2e").glob("test_*.py")]
    import fnmatch
    for room, patterns in reach.ROOM_TESTS.items():
        for pattern in patterns:
            assert any(fnmatch.fnmatch(n, f"test_{pattern}.py") for n in names), f"{room}: {pattern}"


def test_a_source_of_each_layer_of_this_tree_reaches_some_unit_test():
    for name in ("src/base/text.c", "src/sense/memory/cgroup.c", "src/model/jobs/role.c", "src/judge/memory/guard.c",
                 "src/tell/store/store.c", "src/agent/guard/evict.c"):
        assert reach.reach(ROOT, [name])["unit"], name
