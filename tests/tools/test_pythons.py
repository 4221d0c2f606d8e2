"""What tests/pythons.py finds does run, is what its label says, and finds its script, also from inside a chroot."""
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import pythons  # noqa: E402

# The versions whose insides differ: a machine that lacks one says so in the tests' count.
WANTED = [(3, 8), (3, 9), (3, 10), (3, 11), (3, 12), (3, 13), (3, 14), (3, 15)]


@pytest.mark.parametrize("version", WANTED, ids=lambda v: f"{v[0]}.{v[1]}")
def test_each_python_found_runs_a_script_and_is_what_it_says(version, tmp_path):
    script = tmp_path / "who.py"
    script.write_text("import sys; print(*sys.version_info[:2], sys.argv[0])\n")
    found = [p for p in pythons.find() if p.version == version]
    if not found:
        pytest.skip(f"no Python {version[0]}.{version[1]} on this machine (tools/pythons, pyenv)")
    for python in found:
        placed = python.place(script)
        try:
            done = subprocess.run([*python.argv, placed], env=python.env(), capture_output=True, text=True, timeout=60)
        finally:
            python.unplace(placed)
        assert done.stdout.split() == [*map(str, version), placed], (python.label, done.stderr)
        assert python.label.startswith(f"{version[0]}.{version[1]}")
        assert script.exists(), "the original stays"
        assert not python.chroot or not pathlib.Path(python.outside(placed)).exists()


def test_the_machines_own_python_is_among_them():
    assert any(p.argv == ("/usr/bin/python3",) for p in pythons.find())
