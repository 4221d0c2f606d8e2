"""What a user's program is called becomes the id of its job under root's vigil, and an id is an argument of the page's own commands."""

import pytest

from conftest import wait_for
from strangerkit import attacker, home, needs_root, place  # noqa: F401
from webkit import Server

pytestmark = needs_root
# The name of the process is what the job is called by.
NAMED = "import sys, time\nopen('/proc/self/comm', 'w').write(sys.argv[1])\nprint('ready')\ntime.sleep(600)\n"


@pytest.mark.parametrize("name", ["-oname", "--all", "..", "-"])
def test_an_id_is_no_option(vigil, attacker, tmp_path, name):  # noqa: F811
    users = attacker(NAMED, name)
    watching = vigil.start("watch", "--pid", users.pid)
    server = Server(vigil, cwd=tmp_path)
    job = wait_for(lambda: server.get("/api/v1/jobs").json()["jobs"], 30, "the job")[0]["id"]
    assert job[0].isalnum(), job
    before = set(tmp_path.iterdir())
    for what in ("stacks", "timeline", "waits"):
        answer = server.get(f"/api/v1/jobs/{job}/{what}")
        assert answer.status == 200, answer
    assert set(tmp_path.iterdir()) == before
    watching.terminate()
    vigil.finish(watching, 30)
