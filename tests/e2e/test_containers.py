"""Where a container, a filter of system calls or a limit takes something away: the program's own end is kept and told."""
import os
import platform
import signal
import subprocess
import sys

import psutil
import pytest

from conftest import wait_for
from guardkit import nobodys_vigil  # noqa: F401: a fixture

# refuse ERRNO NUMBER,NUMBER… COMMAND…: under a filter that answers these system calls so
REFUSE = """
import ctypes, os, struct, sys
error, numbers = int(sys.argv[1]), [int(n) for n in sys.argv[2].split(",")]
rules = [(0x20, 0, 0, 0)]
for n in numbers:
    rules += [(0x15, 0, 1, n), (0x06, 0, 0, 0x00050000 | error)]
rules.append((0x06, 0, 0, 0x7fff0000))
text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *r) for r in rules))
filter_ = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(rules), ctypes.addressof(text)))
libc = ctypes.CDLL(None)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, filter_, 0, 0):
    sys.exit("no filter")
os.execv(sys.argv[3], sys.argv[3:])
"""
PIDFD = "434,424,438,441"  # pidfd_open, pidfd_send_signal, pidfd_getfd, epoll_pwait2
NOT_THERE, NOT_ALLOWED = 38, 1

native = pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="numbers of system calls")


def refusing(error, numbers=PIDFD):
    words = [sys.executable, "-c", REFUSE, error, numbers]
    if subprocess.run([*map(str, words), "/bin/true"], capture_output=True).returncode:
        pytest.skip("no filters of system calls here")
    return words


@native
@pytest.mark.parametrize("error", [NOT_THERE, NOT_ALLOWED])
def test_without_descriptors_of_processes_a_job_lives_as_long_as_it_wants(vigil, error):
    result = vigil("run", "--", "/bin/sh", "-c", "sleep 1.5; echo fine; exit 3", prefix=refusing(error))
    assert (result.status, result.out) == (3, b"fine\n"), result
    assert vigil.why()["cause"]["id"] == "exit_3"


@native
@pytest.mark.parametrize("who", ["supervisor", "supervisor and guard"])
def test_without_descriptors_of_processes_nothing_outlives_vigil(vigil, who):
    process = vigil.start("run", "--name", "left", "--", "/bin/sleep", "300", prefix=refusing(NOT_THERE))

    def parts():
        found = {c.name(): c for c in psutil.Process(process.pid).children()}
        return found if {"sleep", "vigil-guard", "vigil-rescue"} <= set(found) else None

    found = wait_for(parts, 20, "vigil and its job")
    for victim in [process, found["vigil-guard"]][:1 + ("guard" in who)]:
        os.kill(victim.pid, signal.SIGKILL)
    process.wait(10)
    wait_for(lambda: not found["sleep"].is_running(), 20, "the end of the job")
    assert vigil.why("left")["cause"]["id"] == "supervisor_killed"


@pytest.mark.parametrize("limit, word", [("nofile", b"ulimit -n"), ("nproc", b"ulimit -u")])
def test_a_program_that_cannot_be_started_for_a_limit_is_told_with_it(vigil, limit, word):
    if limit == "nproc" and os.geteuid() == 0:
        prefix = ["setpriv", "--reuid=61936", "--regid=61936", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]
        os.chmod(vigil.state, 0o777)
        if subprocess.run([*prefix, vigil.binary, "version"], capture_output=True).returncode:
            pytest.skip("another user cannot start this vigil")
        number = 2
    else:
        prefix, number = [], 24
    result = vigil("run", "--name", "small", "--", "/bin/true", prefix=[*prefix, "prlimit", f"--{limit}={number}:{number}"])
    assert result.status == 125 and word in result.err and str(number).encode() in result.err, result
    told = vigil("why", "small", "--json", prefix=prefix).text
    assert "supervisor_lost" not in told and "SIGKILL" not in told, told


@pytest.mark.parametrize("how", ["ro", "size=4k"])
def test_the_last_words_are_told_where_nothing_can_be_kept(vigil, how):
    words = ["unshare", "-m", "--propagation", "private", "sh", "-c", f'mount -t tmpfs -o {how} none "$0" && exec "$@"', vigil.state]
    if os.geteuid() or subprocess.run([*words, "true"], capture_output=True).returncode:
        pytest.skip("cannot mount here")
    result = vigil("run", "--", sys.executable, "-c", "raise ValueError('bad value 7')", prefix=words)
    assert result.status == 1, result
    told = [line for line in result.err.splitlines() if line.startswith(b"vigil: python3 ")]
    assert told and b"Python exception: ValueError: bad value 7" in told[0], result


def test_in_a_pid_namespace_without_its_proc_nobody_else_is_taken_for_the_job(vigil, as_nobody):
    words = ["unshare", "--pid", "--fork", "--kill-child"]
    if os.geteuid() or subprocess.run([*words, "true"], capture_output=True).returncode:
        pytest.skip("cannot make a pid namespace here")
    result = vigil("run", "--name", "own", "--", sys.executable, "-c", "raise SystemExit('gave up')", prefix=words)
    assert result.status == 1, result
    report = vigil.why("own")
    assert "python3" in report["summary"] and "gave up" in report["summary"], report
    assert 1 < report["victim"]["pid"] < 100
    # an ordinary user may not mount another /proc
    os.chmod(vigil.state, 0o777)
    if subprocess.run([*as_nobody, vigil.binary, "version"], capture_output=True).returncode == 0:
        result = vigil("run", "--", "/bin/true", prefix=[*words, *as_nobody])
        assert result.status == 125 and b"another pid namespace" in result.err and b"--mount-proc" in result.err, result


SHARER = """
import mmap, sys, time
held = []
for i in range(40):
    held.append(mmap.mmap(-1, 5 << 20))
    held[-1].write(b"x" * (5 << 20))
    time.sleep(0.1)
time.sleep(20)
"""


def test_shared_memory_of_a_job_is_counted_beside_many_others_processes(nobodys_vigil, as_nobody):
    """Without a control group each process of the job is read, and not the first ones of the machine instead."""
    if not as_nobody:
        pytest.skip("needs root to become nobody")
    others = [subprocess.Popen(["/bin/bash", "-c", "read"], stdin=subprocess.PIPE) for _ in range(90)]
    try:
        result = nobodys_vigil("run", "--memory-limit", "96M", "--", sys.executable, "-c", SHARER, prefix=as_nobody,
                               cwd=nobodys_vigil.folder)
    finally:
        for process in others:
            process.kill()
            process.wait()
    assert result.status == 137 and nobodys_vigil.why()["killer"] == "vigil", result
