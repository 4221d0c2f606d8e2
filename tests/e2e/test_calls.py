"""vigil run --calls, and vigil calls: exact counts from every Python here, whatever way its processes end."""
import json
import marshal
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile

import pytest

from conftest import ROOT, WORKLOADS, wait_for

sys.path.insert(0, str(ROOT / "tests"))
import pythons  # noqa: E402

PLUGIN = ROOT / "plugins/python"
PYTHONS = pythons.find()

FIB = """
import sys
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
def main():
    return [fib(15) for _ in range(2)]
if __name__ == "__main__":
    main()
"""


class Counted:
    """One run of a script under --calls: what it did, and what was counted."""

    def __init__(self, status, out, err, files):
        self.status, self.out, self.err = status, out, err
        self.files = files  # [(name, bytes)]

    @property
    def notes(self):
        return [json.loads(data) for name, data in self.files if name.endswith(".json")]

    @property
    def profiles(self):
        return [marshal.loads(data) for name, data in self.files if name.endswith(".prof")]

    def calls(self, function):
        """{(primitive, all)} summed over the profiles."""
        cc = nc = 0
        for profile in self.profiles:
            for (_, _, name), numbers in profile.items():
                if name == function:
                    cc, nc = cc + numbers[0], nc + numbers[1]
        return cc, nc

    def __repr__(self):
        return f"status {self.status}\n{self.out}\n{self.err}\n{[n for n, _ in self.files]}\n{self.notes}"


class Runner:
    """Runs scripts with the plugin: directly, so that it works inside a chroot as well."""

    def __init__(self, python, tmp_path):
        self.python, self.folder = python, tmp_path
        self.chroot = pathlib.Path(python.chroot) if python.chroot else None
        if self.chroot:
            self.folder = pathlib.Path(tempfile.mkdtemp(prefix="vigil-test-", dir=self.chroot / "tmp"))
        self.folder.chmod(0o755)
        shutil.copytree(PLUGIN, self.folder / "plugin", ignore=shutil.ignore_patterns("__pycache__"))
        self.calls = self.folder / "calls"
        self.calls.mkdir()

    def inside(self, path):
        return "/" + str(path.relative_to(self.chroot)) if self.chroot else str(path)

    def script(self, text, name="program.py"):
        path = self.folder / name
        path.write_text(text)
        return self.inside(path)

    def env(self, **more):
        return self.python.env(VIGIL_CALLS_DIR=self.inside(self.calls), PYTHONPATH=self.inside(self.folder / "plugin"),
                               PYTHONDONTWRITEBYTECODE="1", **more)

    def start(self, *args, env=None, **popen):
        env = self.env() if env is None else env
        return subprocess.Popen([*self.python.argv, *args], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **popen)

    def finish(self, process, timeout=60):
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            pytest.fail(f"did not end within {timeout} s\n{out}\n{err}")
        return Counted(process.returncode, out, err, self.files())

    def files(self):
        return [(p.name, p.read_bytes()) for p in sorted(self.calls.iterdir()) if p.suffix in (".json", ".prof")]

    def __call__(self, text, *args, env=None, options=()):
        return self.finish(self.start(*options, self.script(text), *args, env=env))

    def plain(self, text, *args, options=()):
        """The same without us."""
        env = self.python.env(PYTHONDONTWRITEBYTECODE="1")
        return subprocess.run([*self.python.argv, *options, self.script(text), *args], env=env, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=60)

    def done(self):
        if self.chroot:
            shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture
def runner(request, tmp_path):
    made = []

    def make(python):
        made.append(Runner(python, tmp_path))
        return made[-1]

    yield make
    for one in made:
        one.done()


def counts_nothing(python):
    """Free-threaded builds whose cProfile cannot bear threads."""
    return python.free_threaded and python.version < (3, 15)


countable = pytest.mark.parametrize("python", [p for p in PYTHONS if not counts_nothing(p)], ids=str)


def of_script(profile, script):
    """What a profile says of a script's own functions, times aside."""
    found = {}
    for (file, line, name), (cc, nc, _, _, callers) in profile.items():
        if file.endswith(script):
            found[line, name] = cc, nc, {(c[1], c[2]): n[:2] for c, n in callers.items() if c[0].endswith(script)}
    return found


@countable
def test_counts_are_those_of_cprofile_itself(python, runner):
    run = runner(python)
    done = run(FIB)
    assert done.status == 0 and len(done.profiles) == 1, done
    out = run.folder / "reference.prof"
    reference = subprocess.run([*python.argv, "-m", "cProfile", "-o", run.inside(out), run.script(FIB)],
                               env=python.env(PYTHONDONTWRITEBYTECODE="1"), capture_output=True, text=True, timeout=60)
    if reference.returncode != 0 and "No module named" in reference.stderr:
        pytest.skip(f"this Python lacks the module: {reference.stderr.strip().splitlines()[-1]}")
    assert reference.returncode == 0, reference.stderr
    mine = of_script(done.profiles[0], "program.py")
    assert mine == of_script(marshal.loads(out.read_bytes()), "program.py")
    assert mine[3, "fib"][:2] == (2, 2 * 1973)


@countable
def test_nothing_of_ours_is_in_the_numbers(python, runner):
    done = runner(python)("import os, time\npid = os.fork()\nif pid == 0: os._exit(0)\nos.waitpid(pid, 0)\ntime.sleep(0.6)\n")
    assert done.status == 0, done
    names = " ".join(f"{file} {name}" for profile in done.profiles for file, _, name in profile)
    assert "vigil_calls" not in names and "plugin" not in names and "thread_time" not in names and "register_callback" not in names, names
    main = max(done.profiles, key=len)
    assert main["~", 0, "<built-in method posix.fork>"][1] == 1
    assert main["~", 0, "<built-in method time.sleep>"][1] == 1


SEEN = """
import sys, os, threading
print(__name__, sys.argv[1:], sys.path[1:], sys.flags, threading.active_count(), sys.getrecursionlimit())
print("sitecustomize" in sys.modules, os._exit.__name__, sys.gettrace(), len(threading.enumerate()))
import signal
print([signal.getsignal(s) for s in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM)])
"""


@countable
def test_the_program_sees_no_difference(python, runner):
    run = runner(python)
    done, plain = run(SEEN, "a", "b c"), run.plain(SEEN, "a", "b c")
    assert (done.out, done.err, done.status) == (plain.stdout, plain.stderr, plain.returncode)


@countable
@pytest.mark.parametrize("ending", ["raise ValueError('x')", "import sys; sys.exit(7)", "import sys; sys.exit('words')",
                                    "raise KeyboardInterrupt", "import os; os._exit(5)", "import os; os.abort()", "1/0"])
def test_endings_look_as_they_did(python, runner, ending):
    run = runner(python)
    text = FIB.replace("    main()", f"    main()\n    {ending}")
    done, plain = run(text), run.plain(text)
    assert (done.out, done.err, done.status) == (plain.stdout, plain.stderr, plain.returncode)
    if "abort" not in ending:
        assert done.calls("fib") == (2, 2 * 1973), done
        assert done.notes[0]["complete"] is True


WORKERS = """
import multiprocessing, sys
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
def work(n):
    return fib(n)
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    workers = [context.Process(target=work, args=(12,)) for _ in range(3)]
    for w in workers: w.start()
    for w in workers: w.join()
    print([w.exitcode for w in workers])
"""


@countable
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_are_counted(python, runner, method):
    run = runner(python)
    plain = run.plain(WORKERS, method)
    if plain.returncode != 0:
        pytest.skip(f"this Python cannot do so here: {plain.stderr.strip().splitlines()[-1:]}")
    done = run(WORKERS, method)
    assert (done.out, done.err, done.status) == (plain.stdout, plain.stderr, 0), done
    assert done.calls("fib") == (3, 3 * 465), done
    assert done.calls("work") == (3, 3)
    assert sum(n.get("process", "").startswith(("Process", "ForkProcess", "SpawnProcess", "ForkServerProcess"))
               for n in done.notes) == 3


THREADS = """
import threading
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
def work():
    fib(12)
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
work()
"""


@countable
def test_threads_are_counted(python, runner):
    done = runner(python)(THREADS)
    assert done.status == 0 and not done.err, done
    assert done.calls("work")[1] == 5
    assert done.calls("fib")[1] == 5 * 465
    if python.version >= (3, 12):
        assert done.notes[0]["threads_mixed"] is True


RUNS_ON = FIB.replace("    main()\n", """    main()
    import os, signal, sys, time
    if len(sys.argv) > 1:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))
    print("counted", flush=True)
    while True:
        time.sleep(0.05)  # a signal just before a sleep is handled after it
""")


def has_profile(run):
    return lambda: [n for n, _ in run.files() if n.endswith(".json")]  # comes after the profile


@countable
@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGKILL], ids=lambda s: s.name)
def test_a_killed_process_loses_little(python, runner, sig):
    run = runner(python)
    process = run.start(run.script(RUNS_ON))
    assert process.stdout.readline() == "counted\n"
    wait_for(has_profile(run), 20, "the first profile")
    process.send_signal(sig)
    done = run.finish(process)
    assert done.status == -sig
    assert done.calls("fib") == (2, 2 * 1973), done
    assert done.notes[0]["complete"] is False


KILLED_AT_ONCE = """
import multiprocessing, os, signal
def work(kill):
    if kill: os.kill(os.getpid(), signal.SIGKILL)
if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    for kill in True, False, True:
        w = context.Process(target=work, args=(kill,)); w.start(); w.join()
"""


@countable
def test_a_worker_killed_at_once_is_not_forgotten(python, runner):
    run = runner(python)
    done = run(KILLED_AT_ONCE)
    assert done.status == 0 and not done.err, done
    begun = [json.loads(p.read_text()) for p in run.calls.glob("*.begun")]
    assert [(n["role"], n["complete"]) for n in begun] == [("fork", False)] * 2, (begun, done)
    assert len(done.notes) == 2 and all(n["complete"] for n in done.notes), done


@countable
def test_a_program_that_is_started_is_no_lost_worker(python, runner):
    run = runner(python)
    done = run("import subprocess, sys\nfor _ in range(3):\n    subprocess.run([sys.executable, '-S', '-c', ''], preexec_fn=lambda: None)\n"
               "    subprocess.run([sys.executable, '-S', '-c', ''])\n")
    assert done.status == 0 and not done.err, done
    assert not list(run.calls.glob("*.begun")), list(run.calls.iterdir())


def test_what_was_killed_at_once_is_told(vigil):
    assert counted(vigil, script=KILLED_AT_ONCE).status == 0
    result = vigil("calls", "last")
    assert result.status == 0 and "missing profiles  2 processes" in result.text, result
    processes = vigil("calls", "last", "--json").json()["processes"]
    assert len(processes) == 4 and sum(p["complete"] for p in processes) == 2, processes


BECOMES = """
import os, sys
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
def first():
    fib(10)
    try:
        os.execv("/no/such/program", ["x"])
    except FileNotFoundError:
        fib(10)
    os.environ["SECOND"] = "1"
    os.execvp(sys.executable, [sys.executable, *sys.argv])
def second():
    fib(11)
second() if "SECOND" in os.environ else first()
"""


@countable
def test_what_was_counted_before_exec_is_kept(python, runner):
    done = runner(python)(BECOMES)
    assert done.status == 0 and not done.err, done
    assert done.calls("first") == (0, 0) and done.calls("second") == (1, 1), done # the first never returned
    assert done.calls("fib") == (3, 177 * 2 + 287), done
    assert sorted(n["complete"] for n in done.notes) == [False, True], done
    assert not any(name in str(profile) for profile in done.profiles for name in ("vigil_calls", "_execv_after")), done


@countable
def test_a_handler_of_the_program_is_its_own(python, runner):
    run = runner(python)
    process = run.start(run.script(RUNS_ON), "handle")
    assert process.stdout.readline() == "counted\n"
    # not at once: cProfile of 3.14 and 3.15 itself may swallow an exception that a handler raises as a function is first met
    wait_for(has_profile(run), 20, "the first profile")
    process.terminate()
    done = run.finish(process)
    assert done.status == 9
    assert done.calls("fib") == (2, 2 * 1973) and done.notes[0]["complete"] is True


BUSY = """
import time, os
def spin(s):
    end = time.process_time() + s
    while time.process_time() < end: pass
def a(): spin(0.1); b()
def b(): spin(0.1); c()
def c(): spin(0.1)
def main():
    for _ in range(3): a()
    for _ in range(2):
        pid = os.fork()
        if pid == 0: os._exit(0)
        os.waitpid(pid, 0)
        for _ in range(2): a()
main()
"""


@countable
def test_writing_and_forking_leave_callers_in_order(python, runner):
    """The writer's thread begins and ends several times here: one event too many would shift every caller after it."""
    done = runner(python)(BUSY, options=["-W", "error"])
    assert done.status == 0 and not done.err, done
    found = of_script(max(done.profiles, key=lambda p: sum(n[3] for n in p.values())), "program.py")
    callers = {name: {c[1]: n[0] for c, n in by.items()} for (_, name), (_, _, by) in found.items()}
    assert callers == {"spin": {"a": 7, "b": 7, "c": 7}, "a": {"main": 7}, "b": {"a": 7}, "c": {"b": 7},
                       "main": {"<module>": 1}, "<module>": {}}


OWN = FIB.replace("    main()\n", """    main()
    import cProfile, pstats, io
    p = cProfile.Profile()
    p.enable()
    fib(10)
    p.disable()
    to = io.StringIO()
    pstats.Stats(p, stream=to).print_stats()
    print(to.getvalue().split(" in ")[0].strip())
    fib(5)
""")


@countable
def test_a_program_that_profiles_itself_is_left_alone(python, runner):
    run = runner(python)
    plain = run.plain(OWN)
    if plain.returncode != 0:
        pytest.skip(f"no cProfile here: {plain.stderr.strip().splitlines()[-1:]}")
    done = run(OWN)
    assert (done.out, done.err, done.status) == (plain.stdout, plain.stderr, 0), done
    assert "uses cProfile itself" in done.notes[0]["aside"]
    assert done.calls("fib") == (2, 2 * 1973)


@countable
def test_python_m_cprofile_works_as_before(python, runner):
    run = runner(python)
    done = run.finish(run.start("-m", "cProfile", "-o", run.inside(run.folder / "theirs"), run.script(FIB)))
    if "No module named" in done.err:
        pytest.skip(done.err.strip().splitlines()[-1])
    assert done.status == 0 and not done.err
    theirs = of_script(marshal.loads((run.folder / "theirs").read_bytes()), "program.py")
    assert theirs[3, "fib"][:2] == (2, 2 * 1973)


@countable
def test_module_command_and_stdin_are_counted(python, runner):
    run = runner(python)
    run.script(FIB, "mod.py")
    for args, given in ((["-m", "mod"], None), (["-c", FIB], None), (["-"], FIB)):
        env = run.env()
        env["PYTHONPATH"] += ":" + run.inside(run.folder)
        process = subprocess.run([*python.argv, *args], env=env, input=given, capture_output=True, text=True, timeout=60,
                                 stdin=None if given else subprocess.DEVNULL)
        assert (process.returncode, process.stderr) == (0, ""), process.stderr
    done = Counted(0, "", "", run.files())
    assert len(done.profiles) == 3 and done.calls("fib") == (6, 6 * 1973)


@countable
@pytest.mark.parametrize("option", ["-I", "-E", "-S"])
def test_options_that_shut_us_out_leave_nothing(python, runner, option):
    done = runner(python)(FIB, options=[option])
    assert done.status == 0 and not done.err and not done.files


@countable
def test_the_next_sitecustomize_runs(python, runner):
    run = runner(python)
    site = run.folder / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text("import builtins\nbuiltins.was_here = __name__, __file__\n")
    env = run.env()
    env["PYTHONPATH"] += ":" + run.inside(site)
    text = "import sitecustomize\nprint(was_here[0], was_here[1] == sitecustomize.__file__)\n"
    done = run.finish(run.start(run.script(text), env=env))
    assert (done.out, done.err) == ("sitecustomize True\n", "")
    (site / "sitecustomize.py").write_text("raise RuntimeError('mine')\n")
    plain = subprocess.run([*python.argv, run.script(FIB)], capture_output=True, text=True, timeout=60,
                           env=python.env(PYTHONPATH=run.inside(site)))
    done = run.finish(run.start(run.script(FIB), env=env))
    assert (done.err, done.status) == (plain.stderr, plain.returncode)
    assert "RuntimeError: mine" in done.err


@countable
def test_a_folder_that_cannot_be_written_is_no_matter(python, runner):
    run = runner(python)
    env = run.env()
    env["VIGIL_CALLS_DIR"] = "/proc/no-such-folder"
    plain = run.plain(WORKERS, "fork")
    done = run(WORKERS, "fork", env=env)
    assert (done.out, done.err, done.status) == (plain.stdout, plain.stderr, plain.returncode)


@pytest.mark.parametrize("python", [p for p in PYTHONS if counts_nothing(p)], ids=str)
def test_a_python_that_cannot_be_counted_says_so(python, runner):
    done = runner(python)(FIB)
    assert done.status == 0 and not done.err
    assert "free-threaded" in done.notes[0]["aside"] and not done.profiles


# Through vigil


def counted(vigil, *args, env=None, script=FIB, python=sys.executable, name="program.py"):
    path = vigil.state.parent / name
    path.write_text(script)
    result = vigil("run", "--calls", *[a for a in args if a.startswith("--")], "--", python, path,
                   *[a for a in args if not a.startswith("--")], env=env)
    return result


def function(report, name):
    return next((f for f in report["functions"] if f["name"] == name), None)


def test_a_job_is_counted_and_shown(vigil):
    assert counted(vigil).status == 0
    result = vigil("calls", "--json")
    assert result.status == 0, result
    report = result.json()
    assert report["schema"] == "vigil.calls/1" and report["sampled"] is False
    fib = function(report, "fib")
    assert (fib["n_calls"], fib["n_primitive_calls"]) == (2 * 1973, 2)
    assert {c["name"] for c in fib["callers"]} >= {"fib"}
    table = vigil("calls", "last", "--sort", "ncalls", "--limit", "1").out.decode()
    assert "   Ordered by: call count\n" in table and "   3946/2 " in table and "program.py:3(fib)" in table


def test_the_table_is_that_of_pstats(vigil, tmp_path):
    """Line by line what Python prints of the same file; only the order of equal lines may differ."""
    assert counted(vigil).status == 0
    path = next(vigil.state.glob("jobs/*/attempt-0/calls/*.prof"))
    for sort, theirs in (("tottime", "tottime"), ("cumtime", "cumulative"), ("ncalls", "ncalls")):
        mine = vigil("calls", path, "--sort", sort).out.decode()
        python = subprocess.run([sys.executable, "-c", f"import pstats; pstats.Stats({str(path)!r}).sort_stats({theirs!r}).print_stats()"],
                                capture_output=True, text=True, check=True).stdout
        python = python.split("\n\n", 1)[1]  # the name and date of the file
        assert mine.splitlines()[:5] == python.splitlines()[:5]
        assert sorted(mine.splitlines()) == sorted(python.splitlines())


def test_ranks_are_merged_and_compared(vigil):
    slow = FIB.replace("range(2)", "range(1 + 9 * int(__import__('os').environ['RANK']))")
    assert counted(vigil, "--nproc=2", script=slow).status == 0
    report = vigil("calls", "last", "--json").json()
    main = function(report, "main")
    assert function(report, "fib")["n_calls"] == 11 * 1973
    assert report["parts"] == 2 and main["spread"]["max_rank"] == 1 and main["spread"]["parts"] == 2
    assert {p["rank"] for p in report["processes"]} == {0, 1}
    assert function(vigil("calls", "last", "--json", "--rank", "0").json(), "fib")["n_calls"] == 1973
    both = vigil("calls", "last", "--per-rank", "--limit", "1").out.decode()
    assert ", rank 0\n" in both and ", rank 1\n" in both
    assert " max rank filename" in vigil("calls", "last", "--ranks").out.decode()


@countable
def test_every_python_loads_what_is_written(vigil, python, runner):
    assert counted(vigil, "--nproc=2").status == 0
    run = runner(python)
    merged = run.folder / "merged.prof"
    assert vigil("calls", "last", "--format", "pstats", "-o", merged).status == 0
    text = f"import marshal, json\ns = marshal.load(open({run.inside(merged)!r}, 'rb'))\n" + """
print(json.dumps(sorted([list(k), v[0], v[1], sorted([list(c), *n[:2]] for c, n in v[4].items())] for k, v in s.items())))
try:
    import pstats
except ImportError:
    pass
else:
    assert pstats.Stats(%r).total_calls == sum(v[1] for v in s.values())
""" % run.inside(merged)
    done = run.plain(text)
    assert done.returncode == 0, done.stderr
    report = vigil("calls", "last", "--json").json()
    want = sorted([[f["file"], f["line"], f["name"]], f["n_primitive_calls"], f["n_calls"],
                   sorted([[c["file"], c["line"], c["name"]], c["n_calls"], c["n_primitive_calls"]] for c in f["callers"])]
                  for f in report["functions"])
    assert json.loads(done.stdout) == want


def test_a_page_holds_all_and_needs_no_network(vigil, tmp_path):
    assert counted(vigil).status == 0
    page = tmp_path / "calls.html"
    assert vigil("calls", "last", "--format", "html", "-o", page).status == 0
    text = page.read_text()
    data = json.loads(text.split('id="data">', 1)[1].split("</script>", 1)[0])
    assert any(f[2] == "fib" and f[3] == 3946 for f in data["functions"])
    assert "http" not in text.replace("http-equiv", "")


def test_the_newest_attempt_is_shown_and_older_ones_on_request(vigil):
    script = FIB.replace("    main()\n", "    import os\n    [fib(5), os._exit(1)] if os.environ['VIGIL_ATTEMPT'] == '0' else main()\n")
    result = counted(vigil, "--retries=1", "--retry-on=any", "--backoff=0", script=script)
    assert result.status == 0, result
    assert function(vigil("calls", "--json").json(), "fib")["n_calls"] == 3946
    assert function(vigil("calls", "--json", "--attempt", "0").json(), "fib")["n_calls"] == 15


def test_a_job_that_was_not_counted_says_what_to_do(vigil):
    assert vigil("run", "--", "true").status == 0
    result = vigil("calls", "last")
    assert result.status == 4 and "vigil run --calls" in result.text and not result.out
    sleeper = subprocess.Popen([sys.executable, str(WORKLOADS / "spin.py")], stdout=subprocess.PIPE)
    try:
        assert sleeper.stdout.readline() == b"begun\n"
        result = vigil("calls", sleeper.pid, "-d", "0.5")
        assert result.status == 0 and f"process {sleeper.pid} were not counted" in result.text
        assert b"samples are estimates" in result.out
        begins = 1 + (WORKLOADS / "spin.py").read_text().splitlines().index("def heavy(work, seconds):")
        assert f"spin.py:{begins}(heavy)".encode() in result.out, result
        report = vigil("calls", sleeper.pid, "-d", "0.5", "--json").json()
        assert report["sampled"] is True and function(report, "burn")["own_s"] > 0.2
        result = vigil("calls", sleeper.pid, "-d", "0.5", "--format", "pstats", "-o", "x.prof")
        assert result.status == 1 and "do not make a .prof" in result.text
    finally:
        sleeper.kill()
        sleeper.wait()
        sleeper.stdout.close()
    assert vigil("calls", "no-such-job").status == 4
    assert vigil("calls", "./no-such-file.prof").status == 4


def test_a_rank_or_attempt_that_is_not_there_is_named(vigil):
    assert counted(vigil, "--nproc=2").status == 0
    result = vigil("calls", "last", "--rank", 7)
    assert result.status == 1 and "no profile of rank 7" in result.text and "ranks 0 to 1" in result.text and not result.out, result
    result = vigil("calls", "last", "--attempt", 3)
    assert result.status == 1 and "there is no attempt 3" in result.text and "newest is 0" in result.text, result
    assert counted(vigil).status == 0
    result = vigil("calls", "last", "--rank", 0)
    assert result.status == 1 and "had a rank" in result.text, result


def test_one_rank_names_its_own_processes_only(vigil):
    assert counted(vigil, "--nproc=2").status == 0
    assert [p["rank"] for p in vigil("calls", "last", "--json", "--rank", 1).json()["processes"]] == [1]
    for rank, line in enumerate(vigil("calls", "last", "--json", "--per-rank").out.splitlines()):
        assert [p["rank"] for p in json.loads(line)["processes"]] == [rank]


def test_samples_are_of_the_rank_or_process_that_was_asked_for(vigil):
    run = vigil.start("run", "--nproc", 2, "--name", "pair", "--", sys.executable, WORKLOADS / "spin.py", "--by-rank")
    begun = b""
    while begun.count(b"begun") < 2:
        begun += run.stdout.readline()
    for rank, does, does_not in ((0, "heavy", "light"), (1, "light", "heavy")):
        report = vigil("calls", "pair", "-d", 0.5, "--json", "--rank", rank).json()
        assert report["sampled"] and function(report, does)["own_s"] + function(report, "burn")["own_s"] > 0.2, report
        assert not function(report, does_not), report
        pid = next(p["pid"] for p in vigil("stack", "pair", "--json").json()["processes"] if p.get("rank") == rank)
        report = vigil("calls", pid, "-d", 0.5, "--json").json()
        assert function(report, does) and not function(report, does_not), report
        assert report["subject"] == f"process {pid}", report["subject"]
    assert vigil("calls", "pair", "-d", 0.2, "--rank", 7).status == 1
    assert vigil("calls", "pair", "-d", 3600, "--per-rank", timeout=20).status == 2
    run.terminate()


def test_an_interpreter_that_shuts_us_out_is_explained(vigil):
    assert vigil("run", "--calls", "--", sys.executable, "-I", "-c", "pass").status == 0
    result = vigil("calls", "last")
    assert result.status == 1 and "-I, -E or -S" in result.text


def test_a_truncated_profile_is_left_out_and_named(vigil, tmp_path):
    whole = (ROOT / "tests/fixtures/profiles/small.prof").read_bytes()
    (tmp_path / "whole.prof").write_bytes(whole)
    cut = tmp_path / "cut.prof"
    for n in range(0, len(whole), 37):
        cut.write_bytes(whole[:n])
        result = vigil("calls", cut, "--json")
        assert result.status == 1 and str(cut) in result.text and "Traceback" not in result.text and not result.out
    report = vigil("calls", tmp_path / "whole.prof", cut, "--json")
    assert report.status == 0 and report.json()["n_calls"] == 1981 and re.search(r"left out  \S*cut\.prof: ", report.text)


def test_a_full_disk_costs_the_profile_not_the_job(vigil, tiny_disk):
    disk = tiny_disk(96)
    (disk / "ballast").write_bytes(b"x" * 64 * 1024)
    result = counted(vigil, "--state=" + str(disk), script=FIB.replace("    main()\n", "    main()\n    print('done')\n"))
    assert result.status == 0 and result.out == b"done\n"
    assert not list(disk.glob("jobs/*/attempt-0/calls/*.new"))


def test_files_that_are_not_there_are_named(vigil, tmp_path):
    result = vigil("calls", tmp_path / "none.prof", tmp_path / "either.prof", "-f", "table")
    assert result.status == 4 and "none.prof" in result.text and "word too many" not in result.text, result


def test_output_that_cannot_be_written_is_said(vigil):
    assert counted(vigil).status == 0
    result = vigil("calls", "last", "-o", "/proc/no/such.txt")
    assert result.status == 1 and "cannot write /proc/no/such.txt" in result.text


@pytest.mark.parametrize("args", [["last"], ["PID", "-d", 0.2], ["last", "-f", "pstats"]], ids=str)
def test_a_device_is_written_into_and_never_replaced(vigil, tmp_path, args):
    full = tmp_path / "full"
    try:
        os.mknod(full, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
        full.open("wb").close()
    except OSError as e:
        pytest.skip(f"no device can be made here: {e}")
    assert counted(vigil).status == 0
    idle = vigil.start("run", "--", sys.executable, "-c", "import time; time.sleep(60)") if "PID" in args else None
    if idle:
        wait_for(lambda: json.loads(vigil("jobs", "--json").out.splitlines()[0])["state"] == "running")
    result = vigil("calls", *["last" if a == "PID" else a for a in args], "-o", full)
    assert stat.S_ISCHR(full.stat().st_mode), result
    assert result.status == 1 and "No space left" in result.text, result
    assert [f.name for f in tmp_path.iterdir() if f.name.startswith("full")] == ["full"]


def test_where_it_goes_is_asked_before_the_sampling(vigil, tmp_path):
    result = vigil("calls", os.getpid(), "-d", 3600, "-o", tmp_path / "no/such/folder.txt", timeout=20)
    assert result.status == 1 and "cannot write" in result.text, result


def test_a_minus_is_stdout(vigil):
    assert counted(vigil).status == 0
    result = vigil("calls", "last", "-o", "-")
    assert result.status == 0 and b"function calls" in result.out, result


def test_vigil_says_when_its_own_files_are_missing(vigil, tmp_path):
    result = counted(vigil, env={"VIGIL_DATA_DIR": tmp_path})
    assert result.status == 125 and "sitecustomize.py" in result.text and not result.out


def test_a_numpy_program_is_counted(vigil):
    script = "import numpy\ndef step(a): return numpy.linalg.norm(a @ a)\nfor _ in range(5): step(numpy.ones((50, 50)))\n"
    python = "/usr/bin/python3"
    if subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode:
        pytest.skip("numpy is not installed for /usr/bin/python3")
    assert counted(vigil, script=script, python=python).status == 0
    report = vigil("calls", "--json").json()
    assert function(report, "step")["n_calls"] == 5
    assert any("norm" in f["name"] and f["n_calls"] == 5 for f in report["functions"])
