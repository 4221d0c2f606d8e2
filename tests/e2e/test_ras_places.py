"""NCCL's RAS where it is not at hand: the version hidden in the library, the server in a container's network."""
import os
import shutil
import subprocess
import sys

import psutil
import pytest

from conftest import ROOT
from guardkit import nobodys_vigil  # noqa: F401

# Ranks, and the server that NCCL has in each of them, below one parent: words are the number of ranks and a library.
JOB = f"""if 1:
    import fcntl, os, socket, struct, subprocess, sys
    sys.path[:0] = [os.getcwd(), {str(ROOT / "tests/e2e")!r}]
    from ranksim import RasServer, ras_report
    with socket.socket() as s: # a new network namespace has nothing up, not even lo
        try:
            fcntl.ioctl(s, 0x8914, struct.pack("16sH22x", b"lo", 1))
        except PermissionError:
            pass
    server = RasServer([{{}}])
    code = '''if 1:
        import mmap, sys, time
        f = open(sys.argv[1], "rb") if sys.argv[1] else None
        kept = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) if f else None
        print("ready", flush=True)
        time.sleep(300)'''
    ranks = [subprocess.Popen([sys.executable, "-c", code, sys.argv[2]], stdout=subprocess.PIPE,
                              env={{**os.environ, "RANK": str(r), "LOCAL_RANK": str(r), "WORLD_SIZE": sys.argv[1],
                                   "NCCL_RAS_ADDR": server.address}}) for r in range(int(sys.argv[1]))]
    assert all(r.stdout.readline() for r in ranks)
    counts = [41] * len(ranks)
    counts[1] = 40
    server.answers = [ras_report([p.pid for p in ranks], counts)]
    print("ready", os.getpid(), *server.address.split(":"), flush=True)
    sys.stdin.read()
    print(len(server.commands), flush=True)
    for r in ranks:
        r.kill()
"""


class Job:
    def __init__(self, prefix=(), library="", n=3, **popen):
        self.process = subprocess.Popen([*prefix, sys.executable, "-c", JOB, str(n), str(library)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, **popen)
        words = self.process.stdout.readline().split()
        assert words[:1] == ["ready"], words
        self.port = int(words[3])

    @property
    def pid(self):
        """As it is out here."""
        top = psutil.Process(self.process.pid)
        return next(p.pid for p in [top, *top.children(recursive=True)] if str(JOB) in p.cmdline())

    def asked(self):
        return int(self.process.communicate("", timeout=30)[0])


@pytest.fixture
def job():
    made = []

    def make(*args, **kwargs):
        made.append(Job(*args, **kwargs))
        return made[-1]
    yield make
    for j in made:
        if j.process.poll() is None:
            j.process.communicate("", timeout=30)


def verdict(vigil, *args, **kwargs):
    r = vigil("collectives", *args, "--json", **kwargs)
    assert r.out, r
    return r.json()


def said(view):
    return "\n".join(view["not_read"])


@pytest.fixture
def library(binary, tmp_path):
    """library("2.28.9"): a libnccl.so.2 that says so among its constants, and nowhere else."""
    def make(version):
        source = binary.parents[2] / f"tests/fake/fake_nccl-{version}.so"
        if not source.exists():
            pytest.skip(f"{source} is not built")
        (tmp_path / version).mkdir()
        return shutil.copy(source, tmp_path / version / "libnccl.so.2")
    return make


@pytest.mark.parametrize("version,says", [
    ("2.28.9", "younger than a minute"), ("2.27.3", "older than 2.28.9"), ("2.19.3", "has no RAS"), (None, "is not known")])
def test_the_version_is_read_out_of_the_library(vigil, job, library, version, says):
    j = job(library=library(version) if version else "")
    assert says in said(verdict(vigil, j.pid))
    assert j.asked() == 0


def test_a_library_that_says_nothing_is_of_no_known_version(vigil, job, tmp_path):
    path = tmp_path / "libnccl.so.2"
    path.write_bytes(b"\x7fELF, but not really; NCCL version 2.28.9+cuda12.4\0".ljust(4096, b"x"))
    j = job(library=path)
    assert "is not known" in said(verdict(vigil, j.pid)) and j.asked() == 0


def unshare(*words):
    box = ("unshare", *words)
    if subprocess.run([*box, "true"], capture_output=True).returncode:
        pytest.skip(f"no {' '.join(box)} here")
    return box


def culprit_named(view):
    assert (view["kind"], view["culprit_ranks"], view["confidence"]) == ("missing", [1], "high"), view


@pytest.mark.parametrize("words", [("-n",), ("-n", "-p", "-f", "--mount-proc", "--kill-child")])
def test_a_container_s_network_is_entered(vigil, job, words):
    """With a pid namespace as well: RAS names the processes by their numbers in there."""
    j = job(prefix=unshare(*words))
    view = verdict(vigil, j.pid, "--force")
    culprit_named(view)
    assert not [p for p in psutil.process_iter(["name", "ppid"]) if p.info["name"] == "vigil" and p.info["ppid"] == os.getpid()]
    assert j.asked() > 0


@pytest.fixture
def own(nobodys_vigil, as_nobody):
    if not as_nobody:
        pytest.skip("only root can become somebody without rights")
    shutil.copy(ROOT / "tests/e2e/ranksim.py", nobodys_vigil.folder)
    return nobodys_vigil, as_nobody


def test_who_may_not_enter_is_told_so(own, job):
    """Root's namespace, nobody's ranks and nobody's vigil."""
    vigil, nobody = own
    # lo is brought up while there are rights to
    up = ("sh", "-c", 'ip link set lo up; exec "$@"', "-")
    j = job(prefix=(*unshare("-n"), *up, *nobody), cwd=vigil.folder)
    text = said(verdict(vigil, j.pid, "--force", prefix=nobody, cwd=vigil.folder))
    assert "network namespace of its own (net:[" in text and "CAP_SYS_ADMIN" in text, text
    assert "from here" not in text
    given = said(verdict(vigil, j.pid, "--force", "--ras-addr", "127.0.0.1:1", prefix=nobody, cwd=vigil.folder))
    assert "tried from here" in given and "nobody listens" in given, given
    assert j.asked() == 0


def test_one_s_own_container_needs_no_root(own, job):
    vigil, nobody = own
    if subprocess.run([*nobody, "unshare", "-Urn", "true"], capture_output=True).returncode:
        pytest.skip("users may not make namespaces here")
    j = job(prefix=(*nobody, "unshare", "-Urn"), cwd=vigil.folder)
    culprit_named(verdict(vigil, j.pid, "--force", prefix=nobody, cwd=vigil.folder))
    assert j.asked() > 0
