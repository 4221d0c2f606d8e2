"""How a process of an ordinary user's job ended, without BPF: by a descriptor of it, after its parent has taken its status."""
import os
import platform
import shutil
import signal
import textwrap

import pytest

from conftest import wait_for
from guardkit import nobodys_vigil  # noqa: F401: a fixture

pytestmark = [pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="becomes another user"),
              pytest.mark.skipif(tuple(int(n) for n in platform.release().split(".")[:2]) < (6, 15), reason="Linux 6.15")]


# seen(): returns once vigil has a descriptor of this process; vigil is who started the job's main process.
SEEN = """
import glob, os, time
VIGIL = int(os.environ.setdefault("BY", str(os.getppid())))
def seen():
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for path in glob.glob(f"/proc/{VIGIL}/fdinfo/*"):
            try:
                with open(path) as f:
                    if f"Pid:\\t{os.getpid()}\\n" in f.read():
                        return
            except OSError:
                pass
        time.sleep(0.05)
    os._exit(99)
"""


def program_of(vigil, text):
    program = vigil.folder / "program.py"
    program.write_text(SEEN + textwrap.dedent(text))
    return str(program)


def died(vigil, as_nobody, text, status=1):
    program = program_of(vigil, text)
    result = vigil("run", "--name", "job", "--", "/usr/bin/python3", program, prefix=as_nobody, cwd=vigil.state)
    assert result.status == status, result
    return vigil.why("job")


def test_a_worker_of_a_pool_that_crashed_is_told(nobodys_vigil, as_nobody):
    report = died(nobodys_vigil, as_nobody, """
        import concurrent.futures, ctypes
        def work(i):
            seen()
            ctypes.string_at(8)
        if __name__ == "__main__":
            with concurrent.futures.ProcessPoolExecutor(1) as pool:
                list(pool.map(work, range(2)))
        """)
    assert report["kind"] == "crash" and report["cause"]["id"] == "sigsegv", report
    assert "BrokenProcessPool" in report["cause"]["text"] and "a worker of python3" in report["summary"], report


def test_a_worker_that_was_killed_is_told_and_by_whom_is_unknown(nobodys_vigil, as_nobody):
    vigil = nobodys_vigil
    program = program_of(vigil, """
        import concurrent.futures
        def work(i):
            seen()
            with open(f"pid{i}", "w") as f:
                f.write(f"{os.getpid()}.")
            time.sleep(60)
        if __name__ == "__main__":
            with concurrent.futures.ProcessPoolExecutor(2) as pool:
                list(pool.map(work, range(2)))
        """)
    process = vigil.start("run", "--name", "job", "--", "/usr/bin/python3", program, prefix=as_nobody, cwd=vigil.state)
    file = vigil.state / "pid0"
    wait_for(lambda: file.exists() and file.read_text().endswith("."), 30, "the worker")
    pid = int(file.read_text()[:-1])
    os.kill(pid, signal.SIGKILL)
    process.wait(30)
    report = vigil.why("job")
    assert report["victim"]["pid"] == pid and report["victim"]["signal"] == signal.SIGKILL, report
    assert report["killer"] == "unknown" and report["cause"]["confidence"] == "low", report


def test_the_rank_that_failed_is_told_and_not_the_one_that_its_launcher_ended_for_it(nobodys_vigil, as_nobody):
    report = died(nobodys_vigil, as_nobody, """
        import signal, subprocess, sys
        if "RANK" in os.environ:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            seen()
            time.sleep(2.5 if os.environ["RANK"] == "1" else 60)  # a younger one's number may not be known yet
            sys.exit(3)
        ranks = [subprocess.Popen([sys.executable, __file__], env=dict(os.environ, RANK=str(i), WORLD_SIZE="2")) for i in range(2)]
        ranks[1].wait()
        ranks[0].terminate()
        try:
            ranks[0].wait(1)
        except subprocess.TimeoutExpired:
            ranks[0].kill()
        ranks[0].wait()
        sys.exit(1)
        """)
    assert report["cause"]["id"] == "child_failed" and report["culprit_ranks"] == [1], report


@pytest.mark.parametrize("how", ["terminate", "kill"])
def test_whom_the_job_ends_itself_is_not_the_cause(nobodys_vigil, as_nobody, how):
    report = died(nobodys_vigil, as_nobody, f"""
        import multiprocessing
        def work():
            seen()
            os.close(written)
            time.sleep(60)
        if __name__ == "__main__":
            read, written = os.pipe()
            workers = [multiprocessing.Process(target=work) for _ in range(2)]
            for worker in workers:
                worker.start()
            os.close(written)
            os.read(read, 1)
            for worker in workers:
                worker.{how}()
                worker.join()
            raise ValueError("bad shape 7")
        """)
    assert report["cause"]["id"] == "python_exception" and "bad shape 7" in report["summary"], report
    assert report["killer"] == "none", report
