"""The live socket of `vigil run`: what it tells, to whom, and what it may not cost."""
import contextlib
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time

import pytest
from conftest import wait_for
from guardkit import guard_of, hog  # noqa: F401
from webkit import Server, Stream

GROWS = ("import sys, time\nkept = []\n"
         "for line in sys.stdin:\n"
         "    kept.append(bytearray(int(line) << 20))\n"
         "    print(f'step {len(kept)}', flush=True)\n")
SLEEPS = "import time; time.sleep(600)"


def socket_of(state):
    return wait_for(lambda: next(iter(state.glob("jobs/*/live")), None), 20, "the live socket")


class Reader:
    """A connection; next(where) gives the state as soon as it is so."""

    def __init__(self, state, place=None):
        self.s = socket.socket(socket.AF_UNIX)
        folder = os.open((place or socket_of(state)).parent, os.O_PATH)
        self.s.settimeout(20)
        self.s.connect(f"/proc/self/fd/{folder}/live")
        os.close(folder)
        self.lines = self.s.makefile("rb")
        self.now, self.processes = {}, {}

    def take(self):
        """One line; False at the end."""
        text = self.lines.readline()
        if not text:
            return False
        line = json.loads(text)
        assert line["schema"] == "vigil.live/1"
        assert line["kind"] == "whole" if not self.now else line["seq"] == self.now["seq"] + 1
        for pid in line.pop("gone", []):
            self.processes.pop(pid, None)
        self.processes.update((p["pid"], p) for p in line.pop("processes", []))
        self.now.update(line)
        return True

    def next(self, where, deadline_s=20):
        end = time.monotonic() + deadline_s
        while time.monotonic() < end:
            assert self.take(), f"the end came first; {self.now}"
            if where(self):
                return self
        raise AssertionError(f"it never came; {self.now} {self.processes}")

    def own(self):
        return max((p["own_bytes"] for p in self.processes.values()), default=0)

    def close(self):
        self.lines.close()
        self.s.close()


def test_a_reader_sees_memory_and_steps_as_they_are_and_the_end(vigil):
    run = vigil.start("run", "--name", "grows", "--", sys.executable, "-u", "-c", GROWS, stdin=subprocess.PIPE)
    place = socket_of(vigil.state)
    assert stat.S_IMODE(place.lstat().st_mode) == 0o600
    with contextlib.closing(Reader(vigil.state)) as r:
        r.next(lambda r: r.processes)
        assert r.now["job"]["name"] == "grows" and r.now["phase"] == "running" and r.now["memory"]["guard"] == "ok"
        before = r.own()
        run.stdin.write(b"50\n")
        run.stdin.flush()
        began = time.monotonic()
        r.next(lambda r: r.own() >= before + (50 << 20))
        assert time.monotonic() - began < 5
        main = r.processes[r.now["job"]["pid"]]
        assert main["role"] == "main" and main["state"] in "SRD" and main["rss_bytes"] >= main["own_bytes"]
        run.stdin.write(b"1\n")
        run.stdin.flush()
        r.next(lambda r: r.now["steps"]["ranks"] and r.now["steps"]["ranks"][0]["step"] == 2)
        assert r.now["health"]["sentence"].startswith("step 2")
        run.stdin.close()
        r.next(lambda r: r.now["phase"] == "over")
        assert r.now["job"]["state"] == "done" and r.now["job"]["exit_status"] == 0 and not r.processes
        assert not r.take()
    assert run.wait(20) == 0
    assert not place.exists()


def test_a_watched_job_is_told_of_as_well_until_it_ends(vigil):
    job = subprocess.Popen([sys.executable, "-u", "-c", GROWS], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        watch = vigil.start("watch", "--pid", job.pid)
        with contextlib.closing(Reader(vigil.state)) as r:
            r.next(lambda r: job.pid in r.processes)
            assert r.now["job"]["adopted"] and r.now["phase"] == "running" and r.now["memory"]["guard"] == "ok"
            assert r.now["health"]["level"] not in ("died", "hung")
            before = r.own()
            job.stdin.write(b"50\n")
            job.stdin.flush()
            began = time.monotonic()
            r.next(lambda r: r.own() >= before + (50 << 20))
            assert time.monotonic() - began < 5
            job.stdin.close()
            r.next(lambda r: r.now["phase"] == "over")
            assert r.now["job"]["state"] == "done" and not r.processes and not r.take()
        assert watch.wait(20) == 0
        assert not list(vigil.state.glob("jobs/*/live"))
    finally:
        job.kill()
        job.wait()


def test_who_watches_no_more_says_so(vigil):
    job = subprocess.Popen([sys.executable, "-c", SLEEPS])
    try:
        watch = vigil.start("watch", "--pid", job.pid)
        with contextlib.closing(Reader(vigil.state)) as r:
            r.next(lambda r: job.pid in r.processes)
            watch.send_signal(signal.SIGTERM)
            r.next(lambda r: r.now["phase"] == "unwatched")
            assert r.now["job"]["state"] == "lost" and not r.take()
        assert job.poll() is None
    finally:
        job.kill()
        job.wait()


def test_each_job_of_a_service_has_its_own(vigil):
    mark = f"live-{os.getpid()}"
    jobs = [subprocess.Popen([sys.executable, "-c", SLEEPS, mark], start_new_session=True) for _ in range(2)]
    try:
        agent = vigil.start("agent", "--command", mark)
        places = wait_for(lambda: len(found := list(vigil.state.glob("jobs/*/live"))) == 2 and found, 30, "two sockets")
        told = {}
        for place in places:
            with contextlib.closing(Reader(vigil.state, place)) as r:
                r.next(lambda r: r.processes)
                told[r.now["job"]["id"]] = set(r.processes)
                assert place.parent.name == r.now["job"]["id"]
        assert sorted(told.values(), key=min) == sorted(({j.pid} for j in jobs), key=min)
        jobs[0].kill()
        jobs[0].wait()
        left = wait_for(lambda: len(found := list(vigil.state.glob("jobs/*/live"))) == 1 and found, 30, "one of them to be removed")
        with contextlib.closing(Reader(vigil.state, left[0])) as r:
            r.next(lambda r: set(r.processes) == {jobs[1].pid})
        agent.send_signal(signal.SIGTERM)
        agent.wait(20)
        assert not list(vigil.state.glob("jobs/*/live"))
    finally:
        for job in jobs:
            job.kill()
            job.wait()


def test_what_befalls_the_job_is_told_at_once(vigil):
    run = vigil.start("run", "--retries", "1", "--retry-on", "any", "--backoff", "3", "--", "sh", "-c",
                      "test $VIGIL_ATTEMPT = 1 || { sleep 2; exit 3; }; sleep 600")
    with contextlib.closing(Reader(vigil.state)) as r:
        r.next(lambda r: r.now["phase"] == "waiting")
        r.next(lambda r: r.now["job"]["state"] == "running" and r.now["job"]["attempt"] == 1)
        assert r.now["job"]["other_deaths"] == 1 and r.now["job"]["last_incident"]
        run.send_signal(signal.SIGTERM)
        r.next(lambda r: r.now["phase"] == "over")


def test_sixty_four_readers_and_one_that_never_reads(vigil):
    run = vigil.start("run", "--", sys.executable, "-u", "-c", GROWS, stdin=subprocess.PIPE)
    with contextlib.ExitStack() as stack:
        silent = stack.enter_context(contextlib.closing(Reader(vigil.state)))
        readers = [stack.enter_context(contextlib.closing(Reader(vigil.state))) for _ in range(64)]
        for r in readers:
            r.next(lambda r: r.processes)
        run.stdin.write(b"30\n")
        run.stdin.flush()
        for r in readers:
            r.next(lambda r: r.own() >= 30 << 20)
        assert len({r.now["seq"] for r in readers}) <= 64 and silent.now == {}
        run.stdin.close()
        assert run.wait(20) == 0  # nobody is waited for
        for r in readers:
            r.next(lambda r: r.now["phase"] == "over")


def test_others_are_cut_off(vigil, as_nobody, tmp_path):
    """The folder keeps strangers out; where it does not, the kernel is asked who they are."""
    if not as_nobody:
        pytest.skip("needs root to become nobody")
    vigil.start("run", "--", sys.executable, "-c", SLEEPS)
    place = socket_of(vigil.state)
    script = ("import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.settimeout(10)\n"
              "try:\n    s.connect(sys.argv[1])\nexcept PermissionError:\n    print('denied')\nelse:\n    print(len(s.recv(100)))\n")
    ask = [*as_nobody, "/usr/bin/python3", "-c", script, str(place)]
    said = subprocess.run(ask, capture_output=True, text=True, timeout=30, check=False)
    assert said.stdout == "denied\n", said
    for folder in (place.parent, *place.parent.parents):
        if str(folder).startswith(str(tmp_path.parents[2])) or folder in (vigil.state, place.parent):
            folder.chmod(stat.S_IMODE(folder.stat().st_mode) | 0o055)  # /tmp may be one: it stays open to all
    place.chmod(0o666)
    short = tmp_path.parent / "l"  # a path of a socket has room for 107 bytes
    with contextlib.suppress(FileExistsError):
        short.symlink_to(place.parent)
    ask[-1] = str(short / "live")
    said = subprocess.run(ask, capture_output=True, text=True, timeout=30, check=False)
    short.unlink()
    assert said.stdout == "0\n", said


def test_a_killed_supervisor_leaves_nothing_that_misleads(vigil):
    run = vigil.start("run", "--", sys.executable, "-c", SLEEPS)
    place = socket_of(vigil.state)
    with contextlib.closing(Reader(vigil.state)) as r:
        r.next(lambda r: r.processes)
        # the guard that is forked while the socket is there must not keep it alive
        guard = guard_of(run)
        os.kill(guard, signal.SIGKILL)
        guard_of(run, besides=guard)
        os.kill(run.pid, signal.SIGKILL)
        run.wait(20)
        while r.take():
            pass
    with pytest.raises((ConnectionRefusedError, FileNotFoundError)):
        Reader(vigil.state)
    wait_for(lambda: vigil("jobs", "--json").json()["state"] not in ("running", "starting"), 30, "the job to be told as it is")
    wait_for(lambda: vigil("jobs").status == 0 and not place.exists(), 30, "the socket's name to be removed")


def test_a_stopped_supervisor_holds_up_no_command(vigil):
    run = vigil.start("run", "--name", "held", "--", sys.executable, "-c", SLEEPS)
    with contextlib.closing(Reader(vigil.state)) as r:
        r.next(lambda r: r.processes)
    os.kill(run.pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        assert vigil("ps", "--json").json()["running"]
        assert time.monotonic() - began < 10
    finally:
        os.kill(run.pid, signal.SIGCONT)


def test_readers_do_not_delay_a_memory_kill(vigil, small_machine, hog):
    """With readers that read and readers that do not, SIGKILL follows the crossing as it does without."""
    told = []
    for readers in (0, 64):
        run = vigil.start("run", "--name", f"hog{readers}", "--", *hog("--rate", "500M"), box=small_machine(256))
        with contextlib.ExitStack() as stack:
            place = wait_for(lambda: next(iter(vigil.state.glob(f"jobs/hog{readers}-*/live")), None), 20, "the socket")
            for _ in range(readers):
                s = stack.enter_context(contextlib.closing(socket.socket(socket.AF_UNIX)))
                folder = os.open(place.parent, os.O_PATH)
                s.connect(f"/proc/self/fd/{folder}/live")
                os.close(folder)
            assert run.wait(60) == 137
        told.append(vigil.why()["action"]["kill_us"])
    assert told[1] < 20_000 + told[0], told


def quiet_job(vigil):
    """A job that was sampled less and less, as nothing happens in it; its series file."""
    vigil.start("run", "--name", "quiet", "--", sys.executable, "-u", "-c",
                "import time\nheld = bytearray(40 << 20)\n"
                "for i in range(1, 901):\n    print(f'step {i}/900', flush=True)\n    time.sleep(2)")
    series = wait_for(lambda: next(iter(vigil.state.glob("jobs/*/series")), None))
    last = [series.stat().st_mtime]

    def is_quiet():
        now = series.stat().st_mtime
        gap, last[0] = now - last[0], now
        return gap > 2.5
    wait_for(is_quiet, 40, "samples to come more seldom")
    return series


def test_reading_commands_ask_the_supervisor(vigil):
    quiet_job(vigil)
    shown = vigil("show", "--json").json()
    assert shown["phase"] == "running" and shown["job_bytes"] > 0
    assert shown["health"]["level"] == "well" and shown["health"]["sentence"].startswith("step ")
    assert re.search(r"^ *now +step \d+ of 900", vigil("show").out.decode(), re.M)
    main = next(p for p in map(json.loads, vigil("ps", "--json").out.splitlines()) if p["role"] == "main")
    assert main["step"] >= 1 and main["peak_own_bytes"] >= 40 << 20  # stored at its end only
    jobs = [j for j in vigil("top", "--once", "--json").json()["jobs"] if j["id"] == shown["id"]]
    assert len(jobs) == 1 and jobs[0]["health"]["sentence"].startswith("step ") and jobs[0]["phase"] == "running"
    assert re.search(rf"^{shown['id']}: step \d+ of 900", vigil("top", "--once").out.decode(), re.M)


def test_the_page_is_as_fresh_as_the_supervisor(vigil):
    quiet_job(vigil)
    server = Server(vigil)
    job = server.get("/api/v1/jobs").json()["jobs"][0]["id"]
    stream = Stream(server, f"?job={job}&topics=memory,health")
    try:
        times = [stream.next("memory")["time_unix_ms"] for _ in range(5)]
        # by itself it is sampled every 5 s; the first one is from before
        assert times[4] - times[1] < 9_000, times
    finally:
        stream.close()
