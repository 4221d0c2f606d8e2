"""A program of a user's whose asyncio tasks make a look at it dear: root's commands and watcher look for a while only."""
import json
import resource
import subprocess
import sys

import pytest

from conftest import WORKLOADS
from strangerkit import ATTACKER, needs_root, place  # noqa: F401

pytestmark = needs_root


@pytest.mark.parametrize("command", ["waits", "stack"])
def test_a_look_at_tasks_that_are_dear_to_read_ends(vigil, place, command):  # noqa: F811
    program = place / "manytasks.py"
    program.write_text((WORKLOADS / "manytasks.py").read_text())
    running = subprocess.Popen([sys.executable, program, "900"], user=ATTACKER, group=ATTACKER, extra_groups=[],
                               stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout.readline() == "ready\n"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = vigil(command, running.pid, "--json", timeout=300)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert result.status == 0, result
        assert "manytasks.py" in json.dumps(json.loads(result.out))
        assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 30  # alone on the machine 5; it was a minute and more
    finally:
        running.kill()
        running.communicate(timeout=20)
