"""A user's heap profile names files that only root can read, and root asks vigil for the names of functions."""
import os
import pathlib
import shutil
import struct
import subprocess

import pytest

from conftest import wait_for
from regionkit import Region, Torn
from strangerkit import ATTACKER, attacker, home, needs_root, place  # noqa: F401
from test_foreign_names import LIBRARY, attaches

pytestmark = [needs_root, attaches, pytest.mark.skipif(not shutil.which("gcc"), reason="takes gcc")]

CODE = """
#include <stdlib.h>
static __attribute__((noinline)) char *NAME(int n) { char *p = malloc(n); p[0] = 1; return p; }
char *keep(int n) { char *p = NAME(n); p[1] = 2; return p; }
"""
JOB = """
import ctypes, os, sys, time
library = ctypes.CDLL(sys.argv[1])
library.keep.restype = ctypes.c_void_p
print("ready", flush=True)
while True:
    library.keep(100000)
    time.sleep(0.01)
"""
BEGUN_AT = 248  # begun_unix_ns of the header: what is older than that is the file that was mapped


def library(path, name):
    source = path.with_suffix(".c")
    source.write_text(CODE.replace("NAME", name))
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-g0", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
                    "-fno-ipa-pure-const", "-o", path, source], check=True, capture_output=True)


def has_sampled(folder):
    try:
        return [p for p in folder.glob("*.heap") if any(m.path.endswith("lib.so") for m in Region(p).modules)]
    except Torn:
        return []


@pytest.fixture
def profiled(attacker, home, place):
    """profiled(): a program of the user's with a profile, and its library, which it then may replace."""
    closed = place / "closed"
    closed.mkdir(mode=0o700)
    library(closed / "lib.so", "secret_name")
    (closed / "lib.so").chmod(0o600)
    library(home / "lib.so", "public_name")
    shutil.copy(LIBRARY, home / "preload.so")
    (home / "preload.so").chmod(0o755)
    (home / "heap").mkdir()
    os.chown(home / "heap", ATTACKER, ATTACKER)

    def start():
        process = attacker(JOB, home / "lib.so", env={"LD_PRELOAD": str(home / "preload.so"), "VIGIL_HEAP_DIR": str(home / "heap"),
                                                      "VIGIL_HEAP_RATE": "16384"})
        wait_for(lambda: has_sampled(home / "heap"), what="a profile of the library")
        return process, has_sampled(home / "heap")[0]
    return start


def replaced(home, profile, other):
    """The library becomes a link to another file, which the profile takes for older than its process."""
    (home / "lib.so").unlink()
    (home / "lib.so").symlink_to(other)
    with open(profile, "r+b") as f:
        f.seek(BEGUN_AT)
        f.write(struct.pack("<Q", (1 << 63) - 1))


def ended(process):
    process.kill()
    process.wait()


def names(vigil, *subject):
    result = vigil("heap", *subject, "--format", "folded", timeout=60)
    assert result.status == 0, result
    return result.out


@pytest.mark.parametrize("life", ["running", "ended"])
def test_functions_of_a_users_own_file_are_named(vigil, profiled, life):
    process, profile = profiled()
    if life == "ended":
        ended(process)
    assert b"public_name" in names(vigil, profile)


@pytest.mark.parametrize("life", ["running", "ended", "saved"])
def test_functions_of_a_file_that_only_root_may_read_are_not_named(vigil, profiled, home, place, life):
    process, profile = profiled()
    replaced(home, profile, place / "closed/lib.so")
    if life != "running":
        ended(process)
    if life == "saved":
        saved = place / "saved.heap"
        assert vigil("heap", profile, "-o", saved).status == 0
        assert saved.stat().st_uid == 0
        profile = saved
    shown = names(vigil, profile)
    assert b"secret_name" not in shown and b"lib.so" in shown


def test_a_link_in_a_folder_that_roots_vigil_gave_away_leads_nowhere_else(vigil, profiled, home, place, attacker):
    """An older vigil gave folders in root's state to users of attached processes; another process names a link in it."""
    given = vigil.state / "heap" / "pid-1-2"
    given.mkdir(parents=True)
    os.chown(given, ATTACKER, ATTACKER)
    (given / "link").symlink_to(place / "closed")
    named = attacker("import time; print('ready', flush=True); time.sleep(600)", name="named.py",
                     env={"VIGIL_HEAP_DIR": str(given / "link" / "in")})
    ticks = pathlib.Path(f"/proc/{named.pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    _, profile = profiled()
    data = bytearray(profile.read_bytes())
    struct.pack_into("<iiQ", data, 216, named.pid, 0, int(ticks))
    name = f"{named.pid}.{ticks}.heap"
    for folder, owner in ((given / "in", ATTACKER), (place / "closed" / "in", 0)):
        folder.mkdir(mode=0o700)
        (folder / name).write_bytes(data)
        os.chown(folder / name, owner, owner)
        os.chown(folder, owner, owner)
    assert vigil("heap", named.pid).status != 0
    (given / "link").unlink()
    (given / "link").symlink_to(".")
    assert vigil("heap", named.pid).status == 0


def test_a_user_gets_no_folder_in_roots_state(vigil, attacker, place):
    """What lies there is root's disk, and nobody's quota."""
    vigil.state = place / "state"
    process = attacker("import time; print('ready', flush=True); time.sleep(600)", name="idle.py")
    attached = vigil("heap", process.pid, "--attach", timeout=60)
    assert attached.status == 0, attached
    theirs = [p for p in vigil.state.rglob("*") if p.lstat().st_uid == ATTACKER]
    assert not theirs
    assert vigil("heap", process.pid, timeout=60).status == 0
    ticks = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    folder = pathlib.Path(f"/tmp/vigil-heap-{process.pid}-{ticks}")
    assert folder.stat().st_uid == ATTACKER
    shutil.rmtree(folder)


def test_a_debug_file_that_only_root_may_read_names_nothing(vigil, profiled, home, place):
    """The link to it lies beside the user's stripped library, where debuggers look for such a file."""
    shutil.copy(home / "lib.so", place / "closed/lib.debug")
    subprocess.run(["objcopy", "--strip-all", home / "lib.so"], check=True)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={place / 'closed/lib.debug'}", home / "lib.so"], check=True)
    (home / "lib.debug").symlink_to(place / "closed/lib.debug")
    process, profile = profiled()
    ended(process)
    assert b"public_name" not in names(vigil, profile)


def test_a_fifo_in_place_of_a_library_is_not_waited_for(vigil, profiled, home, place):
    process, profile = profiled()
    os.mkfifo(place / "fifo", 0o600)
    replaced(home, profile, place / "fifo")
    ended(process)
    assert b"lib.so" in names(vigil, profile)
