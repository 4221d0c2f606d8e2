"""Root's vigil in an environment that a user had a say in: sudo -E and su -m leave HOME, PATH and what is vigil's own."""
import os
import shutil
import subprocess

import pytest

from strangerkit import ATTACKER, home, needs_root, place  # noqa: F401
from test_terminal import terminal  # noqa: F401

pytestmark = needs_root

LIBRARY = """
#include <stdlib.h>
__attribute__((constructor)) static void loaded(void) { (void)!system("touch %s"); }
"""


@pytest.fixture
def mark(place):  # noqa: F811
    """What the attacker's program makes, once it runs."""
    return place / "it-ran"


def given(path):
    os.chown(path, ATTACKER, ATTACKER)
    return path


@pytest.fixture
def pager(home, mark):  # noqa: F811
    (home / "bin").mkdir()
    program = home / "bin/less"
    program.write_text(f"#!/bin/sh\ntouch {mark}\nexec cat\n")
    program.chmod(0o755)
    given(home / "bin")
    return given(program)


@pytest.mark.parametrize("variable", ["VIGIL_NVML_PATH", "VIGIL_DCMI_PATH"])
def test_a_users_library_is_not_loaded(vigil, home, mark, variable):  # noqa: F811
    source, library = home / "evil.c", home / "evil.so"
    source.write_text(LIBRARY % mark)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    given(library)
    vigil("gpus", env={"VIGIL_NVML_PATH": "/nowhere", "VIGIL_DCMI_PATH": "/nowhere", variable: library})
    assert not mark.exists()


def test_a_users_folder_of_data_is_not_used(vigil, home):  # noqa: F811
    shutil.copytree(os.path.join(os.path.dirname(__file__), "../../rules"), home / "rules")
    given(home / "rules")
    result = vigil("run", "--", "true", env={"VIGIL_DATA_DIR": home})
    assert "VIGIL_DATA_DIR" in result.text and "not used" in result.text, result


def test_output_of_roots_tasks_is_not_kept_where_a_user_may_serve_the_files(vigil, home):  # noqa: F811
    result = vigil("map", "--group", "sh", "-c", "readlink /proc/$$/fd/1", ":::", "x", env={"TMPDIR": home})
    assert result.status == 0 and result.out and str(home) not in str(result.out), result


def test_a_users_pager_is_not_started(terminal, pager, mark):  # noqa: F811
    assert "--retries" in terminal("help", "run", rows=10, env={"PAGER": str(pager)}).read()
    assert not mark.exists()


def test_a_pager_is_not_looked_for_in_a_users_folder(terminal, pager, mark):  # noqa: F811
    less = terminal("help", "run", rows=10, env={"PATH": f"{pager.parent}:{os.environ['PATH']}", "PAGER": "less"})
    less.read(until=rb":\x1b?")
    assert not mark.exists()


def test_a_pager_of_roots_writes_nothing_into_a_users_home(terminal, home):  # noqa: F811
    less = terminal("help", "run", rows=10, env={"HOME": str(home), "PAGER": "less"})
    less.read(until=rb":\x1b?")
    os.write(less.master, b"/nproc\r")
    less.read(until=rb"\x1b\[7mnproc")
    os.write(less.master, b"q")
    less.read()
    assert list(home.iterdir()) == []
