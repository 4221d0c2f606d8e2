"""Why jobs died: in the order of time, by what the kernel says, with both ends of what was said."""
import os
import pathlib
import signal
import socket
import subprocess
import sys
import textwrap
import time

import pytest

from conftest import wait_for


def python(text, *prefix):
    return ["--", *prefix, sys.executable, "-u", "-c", textwrap.dedent(text)]


def died(vigil, command, *options, status=None, prefix=()):
    result = vigil("run", *options, *command, prefix=prefix)
    assert status is None or result.status == status, result
    return vigil.why()


def words(report):
    return report["summary"] + " " + report["cause"]["text"]


def evidence(report, kind):
    return [e["text"] for e in report["evidence"] if e["kind"] == kind]


def watches_signals(report):
    return not any(t.startswith("signals:") for t in evidence(report, "not_read"))


@pytest.fixture
def stranger():
    """stranger(pid_file, signal): a process outside of the job that sends the signal to the pid in the file once it is there."""
    started = []

    def make(path, number):
        text = ("import os, sys, time\n"
                "while True:\n"
                "    try: pid = int(open(sys.argv[1]).read().split()[0]); break\n"
                "    except (OSError, ValueError, IndexError): time.sleep(0.05)\n"
                "os.kill(pid, int(sys.argv[2]))\n")
        started.append(subprocess.Popen([sys.executable, "-c", text, path, str(int(number))]))
        return started[-1].pid
    yield make
    for process in started:
        process.kill()
        process.wait(20)


def test_what_was_handled_is_evidence_and_the_last_words_decide(vigil):
    report = died(vigil, python("""
        import traceback
        for step in range(40):
            print("step", step)
            if step == 3:
                try: raise MemoryError("handled")
                except MemoryError: traceback.print_exc()
        {}["missing"]
        """), status=1)
    assert report["cause"]["id"] == "python_exception" and "KeyError: 'missing'" in report["summary"], report
    assert "MemoryError" not in words(report), report
    assert any("earlier" in t and "MemoryError: handled" in t for t in evidence(report, "log_before")), report


def test_a_thread_that_ended_long_before_is_evidence_of_an_error_that_explains_itself(vigil):
    """Its traceback is on stderr, the steps after it on stdout; an error that may be for want of the thread still names it."""
    text = """
        import threading, time
        def upload(): raise ConnectionResetError(104, "reset")
        t = threading.Thread(target=upload)
        for step in range(40):
            print("step", step); time.sleep(0.05)
            if step == 3: t.start()
        raise ERROR
        """
    report = died(vigil, python(text.replace("ERROR", "KeyError('label_ids')")), status=1)
    assert "KeyError: 'label_ids'" in words(report) and "ConnectionResetError" not in words(report), report
    assert any("ConnectionResetError" in t for t in evidence(report, "log_before")), report
    report = died(vigil, python(text.replace("ERROR", "RuntimeError('nothing was uploaded')")), status=1)
    assert "A thread of it had ended with an exception before: ConnectionResetError" in words(report), report


def test_the_last_line_is_the_reason_of_an_exit_status(vigil):
    report = died(vigil, python("""
        import sys
        sys.exit("fatal: 3 of 8 shards have another vocabulary")
        """), status=1)
    assert "fatal: 3 of 8 shards have another vocabulary" in report["summary"], report
    assert report["cause"]["text"] and report["cause"]["text"] != report["cause"]["id"], report
    report = died(vigil, ["--", "sh", "-c", "no-such-program --now"], status=127)
    assert "no-such-program" in report["summary"], report


def test_both_ends_of_a_chain_of_exceptions_are_told(vigil):
    report = died(vigil, python("""
        try:
            open("/no/such/tokens.bin")
        except OSError as e:
            raise RuntimeError("the data set cannot be opened") from e
        """), status=1)
    assert "the data set cannot be opened" in words(report) and "/no/such/tokens.bin" in words(report), report


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGHUP, signal.SIGXCPU,
                                    signal.SIGVTALRM, signal.SIGPROF, signal.SIGRTMIN + 3])
def test_who_sent_an_ending_signal_is_told(vigil, tmp_path, stranger, number):
    # the programs of the kernel are loaded once the job has lived for a moment
    pid = stranger(tmp_path / "pid", number)
    report = died(vigil, python(f"""
        import os, signal, time
        signal.signal({int(number)}, signal.SIG_DFL)
        time.sleep(2)
        open("{tmp_path}/part", "w").write(str(os.getpid()))
        os.rename("{tmp_path}/part", "{tmp_path}/pid")
        time.sleep(60)
        """), status=128 + number)
    if not watches_signals(report):
        assert report["killer"] == "unknown", report
        pytest.skip("signals cannot be watched here")
    assert report["cause"]["id"] == "signal_sent" and f"pid {pid}" in report["summary"], report


def test_a_killed_worker_of_a_pool_is_the_cause_with_its_sender(vigil, tmp_path, stranger):
    pid = stranger(tmp_path / "pid", signal.SIGKILL)
    report = died(vigil, python(f"""
        import os, time
        from concurrent.futures import ProcessPoolExecutor
        with ProcessPoolExecutor(2) as pool:
            waits = [pool.submit(time.sleep, 60) for _ in range(2)]
            time.sleep(2)
            open("{tmp_path}/part", "w").write(str(sorted(pool._processes)[0]))
            os.rename("{tmp_path}/part", "{tmp_path}/pid")
            waits[0].result(), waits[1].result()
        """), status=1)
    if not watches_signals(report):
        pytest.skip("signals cannot be watched here")
    assert report["killer"] == "signal" and f"pid {pid}" in report["summary"], report
    assert str(report["victim"]["pid"]) == (tmp_path / "pid").read_text(), report
    assert "BrokenProcessPool" in words(report), report


@pytest.mark.parametrize("say", ["One of the subprocesses has abruptly died during map operation.", "worker 0 was killed, giving up",
                                 "a process in the pool crashed"])
def test_a_program_that_says_that_a_worker_of_its_own_died_is_believed(vigil, tmp_path, stranger, say):
    """Every library has words of its own for it; which worker, and by what, the kernel has told."""
    pid = stranger(tmp_path / "pid", signal.SIGKILL)
    report = died(vigil, python(f"""
        import os, subprocess, sys, time
        time.sleep(1.5)
        workers = [subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) for _ in range(2)]
        open("{tmp_path}/part", "w").write(str(workers[0].pid))
        os.rename("{tmp_path}/part", "{tmp_path}/pid")
        workers[0].wait()
        time.sleep(3)
        workers[1].terminate()
        workers[1].wait()
        raise RuntimeError("{say}")
        """), status=1)
    if not watches_signals(report):
        pytest.skip("signals cannot be watched here")
    assert report["killer"] == "signal" and f"pid {pid}" in report["summary"], report
    assert str(report["victim"]["pid"]) == (tmp_path / "pid").read_text(), report
    assert say in words(report), report


def test_a_worker_that_crashed_long_before_its_launcher_ended_is_told(vigil, tmp_path, stranger):
    """As torchrun does, the launcher takes seconds to end the others and to report."""
    pid = stranger(tmp_path / "pid", signal.SIGKILL)
    report = died(vigil, python(f"""
        import os, subprocess, sys, time
        time.sleep(1.5)
        rank = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        open("{tmp_path}/part", "w").write(str(rank.pid))
        os.rename("{tmp_path}/part", "{tmp_path}/pid")
        rank.wait()
        time.sleep(6)
        print(f"Root Cause (first observed failure):\\n[0]:\\n  rank      : 5 (local_rank: 1)\\n"
              f"  exitcode  : -9 (pid: {{rank.pid}})\\n=====", file=sys.stderr)
        sys.exit(1)
        """), status=1)
    if not watches_signals(report):
        pytest.skip("signals cannot be watched here")
    assert report["killer"] == "signal" and f"pid {pid}" in report["summary"], report
    assert report["culprit_ranks"] == [5], report


@pytest.fixture
def pids_group():
    """pids_group(40) makes a control group for 40 processes and threads."""
    made = []

    def make(most):
        v1, v2 = pathlib.Path("/sys/fs/cgroup/pids"), pathlib.Path("/sys/fs/cgroup")
        if not v1.is_dir() and "pids" not in (v2 / "cgroup.subtree_control").read_text().split():
            pytest.skip("no control group counts processes here")
        group = (v1 if v1.is_dir() else v2) / f"vigil-test-{os.getpid()}-{time.monotonic_ns()}"
        try:
            group.mkdir()
            made.append(group)
            (group / "pids.max").write_text(str(most))
        except OSError as e:
            pytest.skip(f"no control group of its own: {e.strerror}")
        return group

    yield make
    for group in made:
        wait_for(lambda g=group: not (g / "cgroup.procs").read_text(), 20)
        group.rmdir()


LIMITS = {
    "t 1": ("cpu_limit", 137, "while True: pass"),
    "f 100": ("file_size_limit", 1, "open('big', 'wb').write(b'x' * 10_000_000)"),
    "v 400000": ("address_space_limit", 1, "bytearray(10 ** 9)"),
    "n 40": ("open_files_limit", 1, "f = [open('/dev/null') for _ in range(100)]"),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_an_end_at_a_resource_limit_names_the_limit(vigil, tmp_path, limit):
    cause, status, text = LIMITS[limit]
    command = ["--", "sh", "-c", f'ulimit -{limit}; exec "$0" -c "$1"', sys.executable, text]
    assert vigil("run", *command, cwd=tmp_path).status == status
    report = vigil.why()
    assert report["cause"]["id"] == cause, report
    assert "ulimit -" + limit[0] in report["summary"], report


def test_a_stack_without_room_is_told_apart_from_other_faults(vigil):
    report = died(vigil, python("""
        import ctypes, sys, time
        time.sleep(1.5)
        sys.setrecursionlimit(10 ** 9)
        deeper = ctypes.CFUNCTYPE(None)(lambda: deeper())
        deeper()
        """))
    if report["victim"].get("signal") != signal.SIGSEGV:
        pytest.skip("this Python ends such a recursion itself")
    if not watches_signals(report) and not evidence(report, "kmsg"):
        pytest.skip("the kernel does not tell of faults here")
    assert report["cause"]["id"] == "stack_overflow" and "RLIMIT_STACK" in report["cause"]["text"], report
    report = died(vigil, python("import ctypes, time; time.sleep(1.5); ctypes.string_at(8)"))
    assert report["cause"]["id"] == "sigsegv", report


def test_a_port_in_use_names_who_has_it(vigil):
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        port = held.getsockname()[1]
        report = died(vigil, python(f"""
            import socket
            socket.socket().bind(("127.0.0.1", {port}))
            """), status=1)
    assert report["cause"]["id"] == "port_in_use" and f"port {port}" in report["summary"], report
    assert f"pid {os.getpid()}" in report["summary"], report
    assert not any("JOB" in line for line in report["cause"]["advice"]), report


def test_the_rank_that_left_early_with_0_is_told_of(vigil):
    """Rank 1 leaves well; rank 0, which then misses it, is a consequence."""
    report = died(vigil, python("""
        import os, socket, sys, time
        port = int(os.environ["MASTER_PORT"])
        if os.environ["RANK"] == "0":
            s = socket.create_server(("127.0.0.1", port))
            peer, _ = s.accept()
            peer.recv(1)
            time.sleep(1)
            raise RuntimeError("gloo/transport/tcp/pair.cc:589] Connection closed by peer [127.0.0.1]:1")
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port)); break
            except OSError: time.sleep(0.05)
        sys.exit(0)
        """), "--nproc", "2")
    assert report["cause"]["id"] == "rank_ended_early" and report["culprit_ranks"] == [1], report
    assert "rank 1" in report["summary"] and "exit status 0" in report["summary"], report


def test_the_rank_whose_worker_was_killed_is_told_though_another_one_ended_first(vigil, tmp_path, stranger):
    pid = stranger(tmp_path / "pid", signal.SIGKILL)
    report = died(vigil, python(f"""
        import os, signal, socket, subprocess, sys, time
        rank, name = int(os.environ["RANK"]), "\\0missed-" + os.environ["MASTER_PORT"]
        if rank == 0:
            door = socket.socket(socket.AF_UNIX); door.bind(name); door.listen(1)
            link, _ = door.accept()
            if not link.recv(1):
                raise RuntimeError("gloo/transport/tcp/pair.cc:589] Connection closed by peer [127.0.0.1]:1")
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        link = socket.socket(socket.AF_UNIX)
        while link.connect_ex(name):
            time.sleep(0.05)
        time.sleep(2)
        worker = subprocess.Popen(["sleep", "60"])
        open("{tmp_path}/part", "w").write(str(worker.pid))
        os.rename("{tmp_path}/part", "{tmp_path}/pid")
        worker.wait()
        print("Traceback (most recent call last):\\nRuntimeError: DataLoader worker (pid %d) is killed by signal: Killed." % worker.pid,
              file=sys.stderr, flush=True)
        link.close()
        signal.sigtimedwait([], 1)
        os._exit(1)
        """), "--nproc", "2")
    if not watches_signals(report):
        pytest.skip("signals cannot be watched here")
    assert report["killer"] == "signal" and f"pid {pid}" in words(report) + report["killer_text"], report
    assert report.get("culprit_ranks") == [1] or report["victim"].get("rank") == 1, report


def test_the_rank_that_noticed_is_not_told_before_the_one_that_failed(vigil):
    """Rank 1 fails first and takes a while to end; rank 0 notices and is gone at once."""
    report = died(vigil, python("""
        import os, socket, sys, time, traceback
        port = int(os.environ["MASTER_PORT"])
        if os.environ["RANK"] == "0":
            s = socket.create_server(("127.0.0.1", port))
            peer, _ = s.accept()
            peer.recv(1)
            raise RuntimeError("gloo/transport/tcp/pair.cc:589] Connection closed by peer [127.0.0.1]:1")
        import atexit, signal
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for _ in range(200):
            try:
                c = socket.create_connection(("127.0.0.1", port)); break
            except OSError: time.sleep(0.05)
        atexit.register(lambda: (c.close(), time.sleep(1)))
        {}["no such layer"]
        """), "--nproc", "2")
    assert report["cause"]["id"] == "python_exception" and "no such layer" in report["summary"], report
    assert report["culprit_ranks"] == [1], report


GLOO_WAITS = """
import os, time
if os.environ["RANK"] == "1":
    time.sleep(60)
time.sleep(1)
raise RuntimeError("[gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 6000ms for recv operation to complete")
"""


def test_the_rank_that_a_collective_waited_for_is_told_and_not_the_one_that_waited(vigil):
    result = vigil("run", "--nproc", "2", "--", sys.executable, "-c", GLOO_WAITS, timeout=60)
    assert result.status == 1, result
    report = vigil.why()
    assert report["cause"]["id"] == "gloo_peer_absent" and report["culprit_ranks"] == [1], report["cause"]
    assert "Rank 1" in report["cause"]["text"] and "the others waited for it" in report["cause"]["text"]


MONITORED = """
import os, time
if os.environ["RANK"] != "0":
    time.sleep(60)
time.sleep(1)
raise RuntimeError("[Rank 0]: Rank 1 failed to pass monitoredBarrier in 6000 ms\\n Original exception: \\n"
                   "[gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 6000ms for recv operation to complete")
"""


def test_the_rank_that_a_monitored_barrier_names_is_told_and_not_the_one_that_names_it(vigil):
    result = vigil("run", "--nproc", "3", "--", sys.executable, "-c", MONITORED, timeout=60)
    assert result.status == 1, result
    report = vigil.why()
    assert report["cause"]["id"] == "gloo_barrier_missed" and report["culprit_ranks"] == [1], report["cause"]


def test_of_ranks_that_were_found_dead_together_the_one_that_ended_first_is_told(vigil):
    """Vigil looks late, as on a busy machine: rank 1 raised first, and rank 0 noticed its loss."""
    report = died(vigil, python("""
        import os, signal, socket, time
        port = int(os.environ["MASTER_PORT"])
        if os.environ["RANK"] == "0":
            s = socket.create_server(("127.0.0.1", port))
            peer, _ = s.accept()
            if not peer.recv(1):
                time.sleep(0.5)
                raise RuntimeError("no answer from the pipeline")
        for _ in range(200):
            try:
                c = socket.create_connection(("127.0.0.1", port)); break
            except OSError: time.sleep(0.05)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        time.sleep(3) # until ends are watched
        supervisor, rank = os.getppid(), os.getpid()
        if os.fork() == 0:
            c.close()
            os.setsid()
            os.kill(supervisor, signal.SIGSTOP)
            os.kill(rank, signal.SIGUSR1)
            time.sleep(2)
            os.kill(supervisor, signal.SIGCONT)
            os._exit(0)
        signal.sigwait([signal.SIGUSR1])
        raise ValueError("no such batch")
        """), "--nproc", "2")
    if not watches_signals(report):
        pytest.skip("ends of processes cannot be watched here")
    assert "no such batch" in report["summary"], report
    assert report.get("culprit_ranks", [1]) == [1] and report["victim"]["rank"] == 1, report


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")
def test_a_file_system_without_inodes_is_not_told_as_full(vigil, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m,nr_inodes=40", "tmpfs", disk]).returncode:
        pytest.skip("no file system of its own here")
    try:
        report = died(vigil, python(f"""
            for n in range(100): open(f"{disk}/{{n}}", "w").close()
            """), status=1)
    finally:
        subprocess.run(["umount", disk], check=True)
    assert report["cause"]["id"] == "inodes_full" and str(disk) in report["summary"], report
    assert "All 40 inodes are in use" in report["cause"]["text"], report
    assert any("0 free of 40 inodes" in e["text"] for e in report["evidence"]), report


def test_a_thread_that_the_group_refused_names_its_limit(vigil, pids_group):
    """40 tasks in a group of its own: vigil's are some of them."""
    group = pids_group(40)
    report = died(vigil, python("""
        import threading
        stop = threading.Event()
        try:
            for _ in range(100): threading.Thread(target=stop.wait).start()
        finally:
            stop.set()
        """), status=1, prefix=["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', str(group)])
    assert report["cause"]["id"] == "group_processes_limit" and "may have 40 of them" in report["summary"], report
    assert any(e["source"] == "pids.events" and "refused" in e["text"] for e in report["evidence"]), report


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")
def test_a_full_disk_is_named(vigil, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk]).returncode:
        pytest.skip("no file system of its own here")
    try:
        report = died(vigil, python(f"""
            try:
                f = open("{disk}/ckpt.pt", "wb")
                for _ in range(100): f.write(b"x" * 100_000)
            except OSError:
                raise RuntimeError("[enforce fail at inline_container.cc:603] . unexpected pos 1472 vs 1366")
            """), status=1)
    finally:
        subprocess.run(["umount", disk], check=True)
    assert report["cause"]["id"] == "disk_full" and str(disk) in report["summary"], report


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")
def test_a_disk_that_was_full_before_is_not_the_one(vigil, tmp_path):
    """A write that fails says no path, and somebody else's file system may be full since long ago."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk]).returncode:
        pytest.skip("no file system of its own here")
    try:
        (disk / "old").write_bytes(b"x" * (1 << 20))
        for path in (disk / "old", disk):
            os.utime(path, (1_700_000_000, 1_700_000_000))
        report = died(vigil, python("""
            import errno, os
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            """), status=1)
    finally:
        subprocess.run(["umount", disk], check=True)
    assert report["cause"]["id"] == "disk_full" and str(disk) not in report["summary"], report
    assert "does not say" in report["cause"]["text"] and str(disk) in report["cause"]["text"], report


RANKS = """
    import os, subprocess, sys, time
    time.sleep(1.5)     # ends are seen from the first second on
    ranks = [subprocess.Popen([sys.executable, "-c", code], env=dict(os.environ, {name}=str(r)))
             for r, code in enumerate(["import time; time.sleep(60)", {code!r}, "import time; time.sleep(60)"])]
    ranks[1].wait()
    for p in ranks:
        p.terminate()
        p.wait()
    print("launcher: one of my processes has failed", file=sys.stderr)
    sys.exit(1)
    """


@pytest.mark.parametrize("name", ["OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "RANK"])
def test_the_rank_that_failed_below_a_launcher_is_told_by_its_environment(vigil, name):
    """It ends at once: nobody but the kernel has seen its environment."""
    report = died(vigil, python(RANKS.format(name=name, code="raise ValueError('mesh of 8 cells')")), status=1)
    if not watches_signals(report):
        pytest.skip("ends cannot be watched here")
    assert report["culprit_ranks"] == [1], report
    assert "mesh of 8 cells" in words(report), report


def test_a_rank_that_crashes_below_a_launcher_is_told_by_its_environment(vigil):
    code = "import ctypes; ctypes.string_at(8)"
    report = died(vigil, python(RANKS.format(name="OMPI_COMM_WORLD_RANK", code=code)), status=1)
    if not watches_signals(report):
        pytest.skip("ends cannot be watched here")
    assert report["kind"] == "crash" and report["culprit_ranks"] == [1], report
    assert "SIGSEGV" in words(report), report


def test_a_worker_that_leaves_its_pool_is_told_with_its_status(vigil):
    report = died(vigil, python("""
        import os, time
        from concurrent.futures import ProcessPoolExecutor
        time.sleep(1.5)
        with ProcessPoolExecutor(2) as pool:
            pool.submit(os._exit, 3).result()
        """), status=1)
    if not watches_signals(report):
        pytest.skip("ends cannot be watched here")
    assert "had ended by itself with exit status 3" in words(report), report
