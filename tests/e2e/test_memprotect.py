"""vigil mem, protect and doctor on real processes: what they show is checked against what the kernel says."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import wait_for

UNPRIVILEGED = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="changing to another user needs root")

# Holds 64 MiB of its own and says so; ends when its stdin does.
HOLDER = """
import sys
block = bytearray(64 << 20)
for i in range(0, len(block), 4096):
    block[i] = 1
print("ready", flush=True)
sys.stdin.read()
"""

# Two processes map one file in /dev/shm; a second file is left behind by nobody.
SHARERS = """
import mmap, os, sys
name = sys.argv[1]
with open("/dev/shm/" + name + "-shared", "wb+") as f:
    f.write(b"x" * (8 << 20)); f.flush()
    m = mmap.mmap(f.fileno(), 8 << 20)
with open("/dev/shm/" + name + "-orphan", "wb") as f:
    f.write(b"x" * (4 << 20))
child = os.fork()
if child == 0:
    sum(m[::4096])
    print("ready", flush=True)
    sys.stdin.read()
    os._exit(0)
sys.stdin.read()
"""


class Job:
    def __init__(self, code, *args, env=None, prefix=()):
        self.process = subprocess.Popen([*prefix, sys.executable, "-c", code, *args], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})
        self.pid = self.process.pid
        assert self.process.stdout.readline() == "ready\n"

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(20)


@pytest.fixture
def job():
    started = []

    def start(*args, **kwargs):
        started.append(Job(*args, **kwargs))
        return started[-1]

    yield start
    for one in started:
        one.end()


def kernel_bytes(pid, key):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"no {key} in status of {pid}")


def adj(pid):
    return int(pathlib.Path(f"/proc/{pid}/oom_score_adj").read_text())


def may_lower():
    """Whether the kernel lets us lower oom_score_adj: tried in a child that ends at once."""
    code = "import os; os.write(os.open('/proc/self/oom_score_adj', os.O_WRONLY), b'-10')"
    return subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL).returncode == 0


def test_own_bytes_are_what_the_kernel_counts_as_private(vigil, job):
    one = job(HOLDER)
    result = vigil("mem", one.pid, "--json")
    assert result.status == 0, result
    view = result.json()
    assert view["schema"] == "vigil.memory/1"
    assert [p["pid"] for p in view["processes"]] == [one.pid]
    row = view["processes"][0]
    assert abs(row["own_bytes"] - kernel_bytes(one.pid, "RssAnon")) < 1 << 20
    assert row["own_bytes"] >= 64 << 20
    assert abs(row["rss_bytes"] - row["own_bytes"] - row["shared_bytes"]) < 1 << 20
    assert row["pss_bytes"] <= row["rss_bytes"] + (1 << 20)
    assert "gpu_bytes" not in row
    node = view["node"]
    assert node["used_bytes"] + node["available_bytes"] == node["total_bytes"]
    assert 0 < node["ratio"] < 1


def test_the_whole_node_lists_the_largest_first(vigil, job):
    one = job(HOLDER)
    view = vigil("mem", "--json", "--all").json()
    own = [p["own_bytes"] for p in view["processes"]]
    assert own == sorted(own, reverse=True)
    assert one.pid in [p["pid"] for p in view["processes"]]
    assert view["sum"]["processes"] == len(own)


def test_jobs_are_levels_of_their_own_with_their_own_limit(vigil):
    holds = [sys.executable, "-c", HOLDER.replace("sys.stdin.read()", "import time; time.sleep(600)")]
    limited = vigil.start("run", "--quiet", "--name", "limited", "--memory-limit", "500MiB", "--", *holds)
    free = vigil.start("run", "--quiet", "--name", "free", "--", *holds)
    assert limited.stdout.readline() == b"ready\n" and free.stdout.readline() == b"ready\n"
    jobs = {j["job"].split("-")[0]: j for j in vigil("mem", "--json").json()["jobs"]}
    assert jobs["limited"]["limit_bytes"] == 500 << 20 and "limit_bytes" not in jobs["free"]
    assert jobs["limited"]["processes"] == 1 and 64 << 20 <= jobs["limited"]["own_bytes"] < 100 << 20
    levels = vigil("mem", "limited", "--json").json()["levels"]
    (level,) = [x for x in levels if x["scope"] == "job"]
    assert level["total_bytes"] == 500 << 20 and 60 << 20 <= level["used_bytes"] < 120 << 20
    # Where the job has a group of its own, what the guard set there is no limit that somebody else gave.
    assert not [x for x in levels if x["scope"] == "container" and "limited" in x["name"]]
    assert not [x for x in vigil("mem", "free", "--json").json()["levels"] if x["scope"] == "job"]
    text = vigil("mem").out
    assert b"LIMIT" in text and b"500 MiB" in text
    assert b"no limit of its own" in vigil("mem", "free").out


def test_members_of_a_job_are_found_by_environment_and_named_by_rank(vigil, job):
    one = job(HOLDER, env={"VIGIL_JOB_ID": "train-1", "RANK": "3", "WORLD_SIZE": "8"})
    view = vigil("mem", one.pid, "--json").json()
    row = view["processes"][0]
    assert (row["job"], row["rank"], row["role"]) == ("train-1", 3, "main")


def test_shared_files_have_owners_and_the_orphan_is_marked(vigil, job, tmp_path):
    name = f"vigil-e2e-{os.getpid()}"
    try:
        one = job(SHARERS, name)
        view = vigil("mem", one.pid, "--json", "--all").json()
        files = {s["path"]: s for s in view["shm"]}
        shared, orphan = files[f"/dev/shm/{name}-shared"], files[f"/dev/shm/{name}-orphan"]
        assert sorted(shared["owners"]) == sorted(p["pid"] for p in view["processes"])
        assert len(shared["owners"]) == 2 and not shared["orphan"]
        assert shared["bytes"] == 8 << 20
        assert orphan["owners"] == [] and orphan["orphan"] and orphan["bytes"] == 4 << 20
        roles = {p["pid"]: p["role"] for p in view["processes"]}
        assert roles.pop(one.pid) == "main" and list(roles.values()) == ["worker"]
        for i in range(5):
            pathlib.Path(f"/dev/shm/{name}-left{i}").write_bytes(b"x" * 4096)
        text = vigil("mem", one.pid).out.decode()
        assert 1 <= text.count("ORPHAN") <= 3, "the machine's orphans leave the job in sight"
        assert f"{name}-shared" in text and "not shown; --all shows" in text and "held by nobody" in text
        assert "A page that forks share counts once" in text.replace("\n", " ")
    finally:
        for kind in ("shared", "orphan", *(f"left{i}" for i in range(5))):
            pathlib.Path(f"/dev/shm/{name}-{kind}").unlink(missing_ok=True)


@as_root
def test_without_rights_the_unreadable_processes_are_counted(vigil, job, state):
    job(HOLDER)
    result = vigil("mem", "--json", prefix=UNPRIVILEGED)
    assert result.status == 0, result
    assert result.json()["sum"]["owners_unknown_processes"] > 0


def test_unknown_jobs_and_wrong_calls_are_told_apart(vigil):
    assert vigil("mem", "no-such-job").status == 4
    assert vigil("mem", "4194304").status == 4
    assert vigil("protect", "no-such-job").status == 4
    assert vigil("mem", "a", "b").status == 2
    assert vigil("protect").status == 2
    assert vigil("protect", "1", "--level", "higher").status == 2
    assert vigil("doctor", "no-such-job").status == 4
    assert vigil("doctor", "a", "b").status == 2
    assert vigil("doctor", "1", "--for", "0.1").status == 2


def test_protect_does_what_it_says_or_names_the_missing_privilege(vigil, job):
    one = job(HOLDER)
    result = vigil("protect", one.pid, "--json")
    view = result.json()
    assert view["schema"] == "vigil.protection/1"
    row = view["processes"][0]
    assert (row["pid"], row["before"], row["after"]) == (one.pid, 0, adj(one.pid))
    threats = {t["id"]: t for t in view["threats"]}
    assert "people" in threats
    if may_lower():
        assert result.status == 0 and adj(one.pid) == -900
        assert "missing" not in view
        assert vigil("protect", one.pid, "--restore").status == 0
    else:
        assert result.status == 3 and row["result"] == "refused"
        assert "CAP_SYS_RESOURCE" in view["missing"]
        assert threats["kernel-oom"]["severity"] == "warning"
    assert adj(one.pid) == 0


def test_a_dry_run_changes_nothing(vigil, job, state):
    one = job(HOLDER)
    result = vigil("protect", one.pid, "--dry-run")
    assert result.status in (0, 3), result
    assert adj(one.pid) == 0
    assert list(state.iterdir()) == []
    assert b"what can still end it" in result.out


def test_helpers_go_first_where_lowering_is_refused_and_are_put_back(vigil, job):
    if may_lower():
        pytest.skip("lowering works here: nothing is raised")
    # A program that a python main calls and that is no part of its work. Popen returns while execve is still at it, when
    # the process has no arguments yet.
    one = job("import subprocess, sys\np = subprocess.Popen(['tail', '-f', '/dev/null'])\n"
              "while not open(f'/proc/{p.pid}/cmdline').read(): pass\n"
              "print('ready', flush=True)\nsys.stdin.read()\np.kill()\np.wait()")
    view = vigil("protect", one.pid, "--json").json()
    rows = {p["pid"]: p for p in view["processes"]}
    raised = [p for p in rows.values() if p["result"] == "raised"]
    assert len(raised) == 1 and raised[0]["pid"] != one.pid
    assert adj(raised[0]["pid"]) == 500 and adj(one.pid) == 0
    assert vigil("protect", one.pid, "--restore").status == 0
    assert adj(raised[0]["pid"]) == 0
    assert vigil("protect", one.pid, "--restore").status == 4


@as_root
def test_an_unprivileged_user_is_told_what_is_missing(vigil, job, tmp_path):
    own_state = tmp_path / "other"
    own_state.mkdir()
    os.chown(own_state, 65534, 65534)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.owner() == "root" and str(folder).startswith("/tmp/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    one = job(HOLDER, prefix=UNPRIVILEGED)
    result = vigil("protect", one.pid, "--state", own_state, prefix=UNPRIVILEGED)
    assert result.status == 3, result
    assert b"CAP_SYS_RESOURCE" in result.out
    assert adj(one.pid) == 0


def test_doctor_says_what_is_degraded_and_its_status_follows(vigil):
    result = vigil("doctor", "--json")
    view = result.json()
    assert view["schema"] == "vigil.findings/1"
    severities = [f["severity"] for f in view["findings"]]
    assert result.status == (1 if {"warning", "problem"} & set(severities) else 0)
    for finding in view["findings"]:
        assert finding["text"] and finding["evidence"]
    ids = {f["id"] for f in view["findings"]}
    assert ("oom-score-adj-locked" in ids) == (not may_lower())
    swap = any(line.startswith("SwapTotal:") and int(line.split()[1]) == 0 for line in open("/proc/meminfo"))
    assert ("no-swap" in ids) == swap
    text = vigil("doctor")
    assert text.status == result.status
    assert all(f"[{i}]".encode() in text.out for i in ids)


@as_root
def test_doctor_finds_another_guard(vigil, tmp_path):
    # Recognised by name, so any program of that name will do: it must not act on this machine.
    fake = tmp_path / "earlyoom"
    fake.write_bytes(pathlib.Path("/bin/sleep").read_bytes())
    fake.chmod(0o755)
    guard = subprocess.Popen([str(fake), "60"])
    try:
        wait_for(lambda: pathlib.Path(f"/proc/{guard.pid}/comm").read_text() == "earlyoom\n")
        result = vigil("doctor", "--json")
        found = [f for f in result.json()["findings"] if f["id"] == "rival-earlyoom"]
        assert result.status == 1 and found and found[0]["severity"] == "warning"
        assert str(guard.pid) in found[0]["evidence"][0]
    finally:
        guard.kill()
        guard.wait()


@as_root
def test_doctor_unprivileged_still_answers(vigil):
    result = vigil("doctor", "--json", prefix=UNPRIVILEGED)
    assert result.status in (0, 1), result
    ids = {f["id"] for f in result.json()["findings"]}
    assert {"oom-score-adj-locked", "no-bpf"} <= ids
    assert json.dumps(result.json()).find("CAP_") > 0
