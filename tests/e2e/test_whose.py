"""What vigil keeps of one user's job is not for another user: folders, files, the store, reports of root's vigil.

The two users are numbers that nobody has; nothing is written into the user data base.
"""
import fcntl
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import time
import urllib.request

import pytest

from conftest import ROOT, Vigil, end_tree, wait_for

ALICE, BOB = 60721, 60722
BINARY = pathlib.Path(os.environ.get("VIGIL", ROOT / "build/src/cli/vigil")).resolve()
takes_root = pytest.mark.skipif(os.geteuid() != 0, reason="takes root, whose vigil watches jobs of others")


@pytest.fixture
def place():
    """A folder that everybody can pass: pytest's own are closed."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="vigil-whose-", dir="/var/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def root(place):
    """Vigil of root, with a state directory that the users could reach."""
    v = Vigil(BINARY, place / "state")
    yield v
    for process in v.started:
        end_tree(process)
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()


class User:
    def __init__(self, uid, place, node_state):
        self.uid, self.home, self.started = uid, place / f"home-{uid}", []
        self.home.mkdir()
        os.chown(self.home, uid, uid)
        self.home.chmod(0o700)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "VIGIL_NODE_STATE_DIR": str(node_state)}
        self.who = {"user": uid, "group": uid, "extra_groups": [], "cwd": self.home, "env": self.env}

    def start(self, *command):
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, umask=0o022, **self.who)
        self.started.append(process)
        return process

    def vigil(self, *args):
        return subprocess.run([str(BINARY), *args], capture_output=True, text=True, timeout=60, umask=0o022, **self.who)

    def may_read(self, path):
        return subprocess.run(["cat", "--", str(path)], capture_output=True, timeout=20, **self.who).returncode == 0

    def may_change(self, path):
        script = 'import os, sys\nos.close(os.open(sys.argv[1], os.O_WRONLY | (0 if os.path.isfile(sys.argv[1]) else os.O_CREAT)))'
        return subprocess.run(["/usr/bin/python3", "-c", script, str(path)], capture_output=True, timeout=20,
                              **self.who).returncode == 0


@pytest.fixture
def users(place):
    both = [User(uid, place, place / "state") for uid in (ALICE, BOB)]
    yield both
    for user in both:
        for process in user.started:
            end_tree(process)
            process.wait(10)


def below(path):
    return [pathlib.Path(folder) / name for folder, folders, files in os.walk(path) for name in [*folders, *files]]


def open_to_all(path):
    """What others may read or write; to pass a folder on the way to something else is no right to what is in it."""
    return [f"{p}: {p.lstat().st_mode:o}" for p in [path, *below(path)] if p.lstat().st_mode & 0o006]


@takes_root
def test_nothing_that_a_vigil_of_root_keeps_is_for_all(root, place, users):
    result = root("run", "--", "sh", "-c", "umask; echo private; exit 3", umask=0o022)
    assert result.status == 3 and result.out.startswith(b"0022\n"), result  # the job's own umask stays
    assert (root.state / "vigil.db").exists() and root.log().read_bytes().startswith(b"0022\nprivate")
    assert open_to_all(root.state) == []
    for user in users:
        for path in below(root.state):
            assert path.is_dir() or not user.may_read(path), path


@takes_root
def test_what_a_user_keeps_is_for_that_user_alone(users):
    alice, bob = users
    assert alice.vigil("run", "--", "sh", "-c", "exit 3").returncode == 3
    state = alice.home / ".local/state/vigil"
    wrong = [f"{p}: {p.lstat().st_mode:o}" for p in [state, *below(state)] if p.lstat().st_mode & 0o077]
    assert (state / "vigil.db").exists() and wrong == []
    alice.home.chmod(0o755)
    for path in below(state):
        assert not bob.may_read(path), path


@takes_root
def test_what_an_older_vigil_left_open_is_closed_at_the_next_start(root, users):
    assert root("run", "--", "false").status == 1
    for path in [root.state, *below(root.state)]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    assert users[1].may_read(root.state / "vigil.db")
    assert root("run", "--", "true").status == 0
    for path in below(root.state):
        assert path.is_dir() or not users[1].may_read(path), path


@takes_root
def test_the_owner_of_a_job_reads_what_roots_vigil_says_of_it_and_others_do_not(root, users):
    alice, bob = users
    job = alice.start("/usr/bin/python3", "-c", "import time; time.sleep(600)")
    watch = root.start("watch", "--pid", job.pid, "--name", "training")
    jobs = wait_for(lambda: json.loads(root("jobs", "--json").out or b"null"))
    assert jobs["uid"] == ALICE, jobs
    job.kill()
    job.wait()
    assert watch.wait(30) == 0
    assert open_to_all(root.state) == []
    for command in (["jobs", "--json"], ["show", "training", "--json"], ["why", "training", "--json"]):
        seen = alice.vigil(*command)
        assert seen.returncode == 0 and jobs["id"] in seen.stdout, (command, seen)
    mine = root.state / "users" / str(ALICE)
    assert jobs["log_dir"].startswith(str(mine))
    for path in [mine, *below(mine)]:
        assert not alice.may_change(path / "planted" if path.is_dir() else path), path
        assert path.is_dir() or alice.may_read(path), path
        assert path.is_dir() or not bob.may_read(path), path
    other = bob.vigil("why", "training")
    assert other.returncode == 4 and "other users" in other.stderr, other
    assert "other users" in bob.vigil("jobs").stderr
    assert root("jobs", "--forget", "0s").status == 0
    assert not pathlib.Path(jobs["log_dir"]).exists()


LOCKS = {
    "a transaction": """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN EXCLUSIVE")
""",
    "every byte of all files": """
import fcntl, sys
files = [open(sys.argv[1] + end, "r+b") for end in ("", "-shm")]
for file in files:
    fcntl.lockf(file, fcntl.LOCK_EX)
""",
    "a reader's lock": """
import fcntl, sys
file = open(sys.argv[1] + "-shm", "rb")
fcntl.lockf(file, fcntl.LOCK_SH)
""",
}


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_on_the_store_holds_nothing_up_and_the_job_is_stored_later(vigil, lock):
    assert vigil("run", "--", "true").status == 0  # so that there is a store
    plain = vigil.start("run", "--", "sh", "-c", "sleep 1; exit 3")
    began = time.monotonic()
    vigil.finish(plain)
    normal_s = time.monotonic() - began
    holder = subprocess.Popen(["/usr/bin/python3", "-c", LOCKS[lock] + "print(flush=True)\nsys.stdin.read()",
                               str(vigil.state / "vigil.db")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"\n"
    began = time.monotonic()
    job = vigil.start("run", "--name", "locked", "--", "sh", "-c", "echo first; sleep 1; echo second >&2; exit 3")
    assert job.stdout.readline() == b"first\n"
    first_s = time.monotonic() - began
    result = vigil.finish(job)
    took_s = time.monotonic() - began
    assert result.status == 3 and b"second" in result.err, result
    assert took_s < normal_s + 1.5 and first_s < 2, (took_s, normal_s, first_s)
    holder.communicate()
    row = vigil("show", "locked", "--json").json()
    assert row["state"] == "failed" and row["exit_status"] == 3, row
    assert vigil.why("locked")["victim"]["exit_code"] == 3
    kinds = [e["kind"] for e in map(json.loads, vigil("events", "locked", "--json").out.splitlines())]
    assert kinds.count("job_start") == kinds.count("job_end") == 1, kinds
    assert not list(vigil.state.glob("unstored/*"))


LEAKY = """
import sys
print("DB_PASSWORD=hunter2-env", file=sys.stderr)
raise RuntimeError("cannot reach postgres://bob:hunter2-url@db:5432/x with password='hunter2-arg'")
"""


def test_secrets_are_in_no_report(vigil):
    result = vigil("run", "--name", "leaky", "--", "/usr/bin/python3", "-c", LEAKY, "--password", "hunter2-option",
                   "--api-key=hunter2-key", "HF_TOKEN=hunter2-token", "https://bob:hunter2-pw@host/x",
                   '{"passwords": ["hunter2-a", "hunter2-b"]}', '{"name": "DB_PASSWORD", "value": "hunter2-value"}',
                   "mysql -phunter2-mysql", "curl -u bob:hunter2-curl", "Authorization: Token hunter2-header")
    assert result.status == 1 and result.text.count("hunter2-url") == 1, result  # the program's own line, not the report
    assert "password='***'" in json.dumps(vigil.why("leaky"))
    for path in below(vigil.state):
        if path.is_file() and "attempt-" not in str(path):
            assert b"hunter2" not in path.read_bytes(), path
    shown = b"".join(vigil(*command).out for command in (["why", "leaky"], ["show", "leaky"], ["jobs"], ["events", "leaky"]))
    assert b"hunter2" not in shown
    assert b"--password *** --api-key=*** HF_TOKEN=*** https://bob:***@host/x" in shown


HOLDS = """
import time
def connect(user, password, options):
    print("ready", flush=True)
    time.sleep(600)
connect("bob", "hunter2-local", {"token": "hunter2-inner", "port": 5432})
"""


def test_locals_called_like_secrets_are_masked_unless_asked_for(vigil, tmp_path):
    script = tmp_path / "holds.py"
    script.write_text(HOLDS)
    holder = subprocess.Popen(["/usr/bin/python3", script], stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"ready\n"
        masked = vigil("stack", holder.pid, "--locals")
        if masked.status == 3 or b"connect" not in masked.out:
            pytest.skip(f"this Python cannot be looked into here: {masked}")
        assert b"bob" in masked.out and b"5432" in masked.out and b"hunter2" not in masked.out, masked
        plain = vigil("stack", holder.pid, "--locals", "--no-mask", "--json")
        assert b"hunter2-local" in plain.out and b"hunter2-inner" in plain.out, plain
    finally:
        end_tree(holder)
        holder.wait(10)


CHATTY = """
import sys
line = "line {:08d} " + "x" * 82 + "\\n"
for i in range(int(sys.argv[1])):
    sys.stdout.write(line.format(i))
sys.stdout.flush()
raise ValueError("the very end")
"""


def on_disk(path):
    return sum(p.stat().st_blocks * 512 for p in below(path) if p.is_file() and p.suffix in (".out", ".err"))


def test_kept_output_has_a_limit_and_its_beginning_and_end_stay(vigil):
    lines = 40_000  # of 100 bytes
    result = vigil("run", "--name", "chatty", "--keep-output", "1M", "--", "/usr/bin/python3", "-c", CHATTY, lines)
    assert result.status == 1 and result.out.count(b"\n") == lines, result  # shown as a whole
    assert "--keep-output" in result.text
    assert on_disk(vigil.state) < 1.5 * 2**20, on_disk(vigil.state)
    shown = vigil("logs", "chatty", "--stdout").out.splitlines()
    assert shown[0].startswith(b"line 00000000 ") and shown[-1].startswith(b"line %08d " % (lines - 1))
    assert [s for s in shown if s.startswith(b"[vigil: ") and b"not kept" in s] and not any(b"\0" in s for s in shown)
    assert vigil("logs", "chatty", "--stdout", "--tail", "1").out.startswith(b"line %08d " % (lines - 1))
    last = vigil("logs", "chatty", "--stdout", "--tail", str(lines)).out
    assert last.startswith(b"line 00000000 "), last[:100]
    report = json.dumps(vigil.why("chatty"))
    assert "the very end" in report and "are not kept" in report
    assert "output_cut" in vigil("events", "chatty", "--json").out.decode()


def test_the_next_attempt_has_room_and_the_last_one_stays_readable(vigil):
    result = vigil("run", "--name", "again", "--keep-output", "1M", "--retries", "2", "--retry-on", "any", "--backoff", "10ms",
                   "--", "/usr/bin/python3", "-c", CHATTY, 20_000)
    assert result.status == 1, result
    assert on_disk(vigil.state) < 1.5 * 2**20, on_disk(vigil.state)
    for attempt in (1, 2):
        shown = vigil("logs", "again", "--stdout", "--attempt", str(attempt)).out
        assert shown.startswith(b"line 00000000 ") and shown.rstrip().splitlines()[-1].startswith(b"line 00019999 ")


def test_the_output_of_the_jobs_that_ended_first_makes_room(vigil):
    said = ""
    for i in range(4):
        ended = vigil("run", "--name", f"job{i}", "--keep-output-all", "2M", "--", "/usr/bin/python3", "-c", CHATTY, 10_000)
        said += ended.err.decode()
        assert ended.status == 1
    assert "the kept output of 1 job that ended longest ago was removed (" in said
    assert on_disk(vigil.state) < 3.3 * 2**20
    assert vigil("logs", "job3", "--stdout").out.count(b"\n") == 10_000
    gone = vigil("logs", "job0", "--stdout")
    assert gone.status == 4 and b"line" not in gone.out and "--keep-output-all" in gone.text, gone
    assert vigil("why", "job0").status == 0


@takes_root
def test_the_page_beside_a_run_shows_what_roots_vigil_lends(root, users):
    alice = users[0]
    job = alice.start("/usr/bin/python3", "-c", "import time; time.sleep(600)")
    root.start("watch", "--pid", job.pid, "--name", "training")
    lent = wait_for(lambda: json.loads(root("jobs", "--json").out or b"null"))["id"]
    run = subprocess.Popen([str(BINARY), "run", "--name", "own", "--dashboard", "--", "sleep", "600"], stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, umask=0o022, **alice.who)
    alice.started.append(run)
    line = b""
    while b"the page is at" not in line:
        line = run.stderr.readline()
        assert line
    url = line.split(b"at ", 1)[1].strip().decode().split("#code=")[0]
    token = next(alice.home.rglob("web-tokens")).read_text().split("admin ")[1].strip()

    def shown():
        ask = urllib.request.Request(url + "api/v1/jobs", headers={"Authorization": f"Bearer {token}"})
        return [j["id"] for j in json.load(urllib.request.urlopen(ask, timeout=20))["jobs"]]
    wait_for(lambda: lent in shown() and any(j.startswith("own-") for j in shown()), 40, "both jobs on the page")
    run.stderr.close()


def kept_of(vigil):
    """All that is stored beside the jobs' own output, and what lists show of it."""
    for path in below(vigil.state):
        if path.is_file() and "attempt-" not in str(path):
            yield path, path.read_bytes()
    for command in (["jobs", "--json"], ["events", "--json"], ["ps", "--all", "--json"], ["metrics"], ["timeline", "last", "-o", "-"]):
        yield command, vigil(*command).out


@pytest.mark.parametrize("words", [["sh", "-c", "exit 3", "x", "--password", "{}"], ["sh", "-c", "exit 3", "x", "--api-key={}"],
                                   ["sh", "-c", "exit 3", "x", "https://bob:{}@host/x"], ["sh", "-c", "exit 3", "x", "--password"]],
                         ids=["option", "key", "address", "behind"])
def test_inputs_of_a_bag_that_stand_for_a_password_are_shown_nowhere(vigil, words):
    vigil("map", *words, ":::", "hunter2one", "hunter2two")
    for where, what in kept_of(vigil):
        assert b"hunter2" not in what, (where, what)
    assert b"::: *** ***" in vigil("jobs", "--json").out
    plain = vigil("map", "sh", "-c", "exit 0", "x", "{}", ":::", "one", "two")
    assert plain.status == 0 and b"x {} ::: one two" in vigil("jobs", "--json").out


def test_a_secret_is_masked_before_its_line_is_cut(vigil):
    """Of an address whose end is cut off nothing tells that it has a password."""
    address = "https://bob:" + "hunter2" * 30 + "@host/x"
    for pad in (200, 330, 400, 900):
        vigil("map", "sh", "-c", "exit 3", "y" * pad, "{}", ":::", address)
    for where, what in kept_of(vigil):
        assert b"hunter2" not in what, (where, what)


def test_a_bag_is_called_after_its_program_where_all_words_are_one(vigil):
    vigil("map", "curl -u bob:hunter2 {}", ":::", "x")
    assert vigil("jobs", "--json").json()["name"] == "curl"


NAMED = """
import asyncio, fcntl, sys, threading, time
path = sys.argv[1] + "/token=hunter2-file"
held = open(path, "w")
fcntl.flock(held, fcntl.LOCK_EX)
def tasks():
    async def waits():
        await asyncio.get_running_loop().create_future()
    async def main():
        await asyncio.create_task(waits(), name="api_key=hunter2-task")
    asyncio.run(main())
threading.Thread(target=tasks, daemon=True).start()
threading.Thread(target=time.sleep, args=(600,), name="fetch https://bob:hunter2-thread@host/x", daemon=True).start()
threading.Thread(target=lambda: fcntl.flock(open(path, "w"), fcntl.LOCK_EX), daemon=True).start()
time.sleep(0.3)
print("ready", flush=True)
time.sleep(600)
"""


def test_names_that_a_program_gave_are_masked_in_looks_at_it(vigil, tmp_path):
    script = tmp_path / "named.py"
    script.write_text(NAMED)
    named = subprocess.Popen(["/usr/bin/python3", script, tmp_path], stdout=subprocess.PIPE)
    try:
        assert named.stdout.readline() == b"ready\n"
        looks = (["stack", named.pid], ["stack", named.pid, "--json"], ["waits", named.pid, "--all"],
                 ["waits", named.pid, "--all", "--json"], ["flame", named.pid, "-d", "0.3", "--idle", "--format", "speedscope"])
        shown = b""
        for command in looks:
            result = vigil(*command)
            assert b"hunter2" not in result.out + result.err, result
            shown += result.out
        if b"fetch" not in shown:
            pytest.skip("this Python cannot be looked into here")
        assert b"token=***" in shown and b"api_key=***" in shown and b"https://bob:***@host/x" in shown
    finally:
        end_tree(named)
        named.communicate()
