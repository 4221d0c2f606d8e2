"""Another user's process says that it is of a job of root's: it gets nothing that root's vigil does for the job, and is not shown as a part of it."""
import json
import os
import pathlib
import subprocess

import pytest

from conftest import wait_for
from strangerkit import attacker, home, needs_root, place  # noqa: F401

pytestmark = needs_root
CLAIMS = """
import time
print("ready", flush=True)
time.sleep(600)
"""


@pytest.fixture
def job(vigil):
    vigil.start("run", "--name", "train", "--", "sleep", "600")
    jobs = lambda: [json.loads(line) for line in vigil("jobs", "--json").out.splitlines()]  # noqa: E731
    return wait_for(lambda: next((j["id"] for j in jobs()), None), 20, "the job")


@pytest.fixture
def claims(job):
    return {"VIGIL_JOB_ID": job, "RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"}


def score(pid):
    return int(pathlib.Path(f"/proc/{pid}/oom_score_adj").read_text())


def listed(vigil, pid):
    return f'"pid":{pid},' in vigil("ps", "--json").out.decode().replace(" ", "")


def test_the_kernels_killer_is_not_told_to_spare_it(vigil, attacker, job, claims):
    process = attacker(CLAIMS, env=claims)
    before = score(process.pid)
    result = vigil("protect", job)
    assert score(process.pid) == before and str(process.pid) not in result.out.decode(), result


def test_it_is_not_listed_and_not_looked_at(vigil, attacker, job, claims):
    process = attacker(CLAIMS, env=claims)
    assert not listed(vigil, process.pid)
    result = vigil("stack", job)
    assert str(process.pid) not in result.out.decode(), result


def test_a_process_of_the_jobs_user_that_lost_its_parents_is_listed(vigil, claims):
    process = subprocess.Popen(["sleep", "600"], env={**os.environ, **claims}, start_new_session=True)
    try:
        assert listed(vigil, process.pid)
    finally:
        process.kill()
        process.wait()
