"""A user's process that stands with its memory lock, and is called like something that root's vigil looks for."""
import shutil
import subprocess
import time

import pytest

from conftest import wait_for
from deadkit import dead_files  # noqa: F401
from strangerkit import ATTACKER, needs_root, place  # noqa: F401

pytestmark = needs_root


@pytest.mark.parametrize("name", ["python3", "earlyoom"])
def test_doctor_does_not_wait_for_a_process_that_is_called_like_a_daemon(vigil, binary, dead_files, place, name):  # noqa: F811
    tool = binary.parents[2] / "tests/tool/holdlock"
    if not tool.exists():
        pytest.skip(f"{tool} is not built")
    shutil.copy(tool, place / name)
    folder = dead_files("hard", at=place)
    held = subprocess.Popen([place / name, "dead", folder], user=ATTACKER, group=ATTACKER, extra_groups=[], stdout=subprocess.PIPE)
    try:
        assert held.stdout.readline() == b"ready\n"
        wait_for(lambda: "D" in open(f"/proc/{held.pid}/stat").read().split(")")[1].split()[0], 20, "it to stand")
        begun = time.monotonic()
        result = vigil("doctor", timeout=30)
        assert result.status in (0, 1), result
        assert time.monotonic() - begun < 15
    finally:
        dead_files.end()
        held.kill()
        held.wait(20)
