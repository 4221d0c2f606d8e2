"""What root types or sets beside an attacker: settings of a user's, names in shared folders, groups, names of programs."""
import json
import os
import pty
import shutil
import signal

import pytest

from conftest import end_tree, wait_for
from ranksim import world
from strangerkit import ATTACKER, attacker, home, needs_root, place  # noqa: F401

pytestmark = needs_root

BEFORE = b"root's own words\n"
HOOK = """
notify:
  - name: mine
    kind: exec
    argv: [%s]
"""


def given(path, owner=ATTACKER):
    os.chown(path, owner, owner, follow_symlinks=False)
    return path


@pytest.mark.parametrize("variable", ["HOME", "XDG_CONFIG_HOME"])
def test_root_takes_no_settings_from_a_home_that_is_a_users(vigil, home, variable):  # noqa: F811
    """sudo -E and su -m leave HOME as it was."""
    made, hook = home / "made", home / "hook.sh"
    hook.write_text(f"#!/bin/sh\nid -u > {made}\n")
    hook.chmod(0o755)
    config = home / (".config" if variable == "HOME" else "") / "vigil/vigil.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(HOOK % hook)
    given(config)
    result = vigil("run", "--", "sh", "-c", "exit 3", env={"HOME": home, "XDG_CONFIG_HOME": "", variable: home})
    assert result.status == 3 and f"{config} is not used: it belongs to another user" in result.text, result
    assert vigil("notify", "flush").status == 0
    assert not made.exists()


def test_nor_settings_of_roots_that_a_users_folder_leads_to(vigil, home, tmp_path):  # noqa: F811
    """Those of another machine's role, or text of the user's in a file of root's."""
    (tmp_path / "vigil.yaml").write_text("run:\n  name: from-there\n")
    (home / ".config").mkdir()
    (home / ".config/vigil").symlink_to(tmp_path)
    given(home / ".config/vigil")
    result = vigil("run", "--", "sh", "-c", "exit 3", env={"HOME": home, "XDG_CONFIG_HOME": ""})
    assert result.status == 3 and "another user can have its name lead elsewhere" in result.text, result
    assert b"from-there" not in vigil("jobs").out


def test_a_users_link_called_as_the_projects_settings_is_not_followed(vigil, home, tmp_path):  # noqa: F811
    other = tmp_path / "other.yaml"
    other.write_text("no: such: thing\n")
    (home / "vigil.yaml").symlink_to(other)
    given(home / "vigil.yaml")
    result = vigil("run", "--", "true", cwd=home)
    assert result.status == 0 and "it belongs to another user" in result.text, result


def test_settings_that_root_names_by_a_users_link_are_refused(vigil, home, tmp_path):  # noqa: F811
    """A file of root's may have a user's text in it, as kept output has."""
    kept = tmp_path / "rank-0.out"
    kept.write_text("run:\n  name: of-the-user\n")
    link = home / "mine.yaml"
    link.symlink_to(kept)
    given(link)
    by_folder = home / "folder"
    by_folder.symlink_to(tmp_path)
    given(by_folder)
    for path in (link, by_folder / "rank-0.out"):
        result = vigil("run", "--config", path, "--", "true")
        assert result.status == 125 and "is refused: another user" in result.text, result
    assert vigil("run", "--config", kept, "--", "true").status == 0


def test_a_users_link_below_a_link_of_the_kernels_is_not_followed_as_root(vigil, home, tmp_path):  # noqa: F811
    """As root names a file of a container: /proc/PID/root/home/user/log."""
    tmp_path.chmod(0o700)
    secret = tmp_path / "secret"
    secret.write_bytes(BEFORE)
    (home / "log").symlink_to(secret)
    given(home / "log")
    folder = os.open(home, os.O_RDONLY)
    for path in (f"/proc/self/root{home}/log", f"/proc/{os.getpid()}/fd/{folder}/log", f"/proc/{os.getpid()}/root{home}/log"):
        result = vigil("map", "--joblog", path, "echo", "{}", ":::", "a")
        assert secret.read_bytes() == BEFORE, path
        assert result.status == 125, result
    os.close(folder)


def test_a_name_that_is_quoted_does_nothing_to_roots_terminal(vigil):
    result = vigil("map", "no-such-program{}", ":::", "\x1b]0;title\x07\x1b[2J")
    assert result.status == 1 and b"\x1b" not in result.err and b"\x07" not in result.err, result


TURNED = "\u202e".encode()  # what follows is written from right to left


def test_a_logs_words_do_nothing_to_roots_terminal(vigil, place):
    log = place / "job.log"
    log.write_bytes(b"RuntimeError: CUDA out of memory. " + TURNED + b" Tried \xff\x9b2J\n")
    result = vigil("rules", "test", log)
    assert b"out of memory" in result.out and TURNED not in result.out and b"\x9b" not in result.out, result


def test_nor_do_the_names_of_groups(vigil, place):
    ranks = world(4, {"0": ("dp" + TURNED.decode(), range(4))})
    for r in ranks:
        r.call()
        if r.rank != 2:
            r.call(done=False)
    result = vigil("collectives", *[r.write(place) for r in ranks])
    assert b"group dp" in result.out and TURNED not in result.out, result


SWAP = """
import os, sys
name, to = sys.argv[1:]
print("ready")
while True:
    try:
        os.symlink(to, name)
        os.unlink(name)
    except OSError:
        pass
"""


def test_a_link_that_comes_and_goes_in_a_shared_folder_leads_nowhere(vigil, place, attacker, tmp_path):  # noqa: F811
    assert vigil("run", "true").status == 0
    tmp_path.chmod(0o700)
    secret, missing = tmp_path / "secret", tmp_path / "missing"
    secret.write_bytes(BEFORE)
    shared = place / "shared"
    shared.mkdir()
    shared.chmod(0o777)  # where the kernel's protected_symlinks protects nothing
    for target in (secret, missing):
        out = shared / f"to-{target.name}"
        swapper = attacker(SWAP, out, target)
        for _ in range(60):
            vigil("timeline", "last", "-o", out)
            assert secret.read_bytes() == BEFORE and not missing.exists()
        end_tree(swapper)


@pytest.mark.parametrize("manner", ["itself", "on the way"])
def test_folders_of_results_are_made_behind_no_such_link(vigil, place, attacker, tmp_path, manner):  # noqa: F811
    closed, shared = tmp_path / "closed", place / "shared"
    for folder in (closed, shared):
        folder.mkdir()
    shared.chmod(0o777)
    attacker(SWAP, shared / "out", closed)
    results = shared / "out" if manner == "itself" else shared / "out/deep"
    for _ in range(60):
        vigil("map", "--results", results, "true", ":::", "x")
        assert not list(closed.iterdir())
        if not (shared / "out").is_symlink():
            shutil.rmtree(shared / "out", ignore_errors=True)


def test_what_others_may_write_beside_is_written_all_the_same(vigil, place):  # noqa: F811
    assert vigil("run", "true").status == 0
    shared = place / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    for _ in range(2):  # a file that is there is written anew
        result = vigil("report", "last", "--html", shared / "r.html")
        assert result.status == 0 and b"<html" in (shared / "r.html").read_bytes()[:200].lower(), result
    os.link(shared / "r.html", shared / "two.html")
    refused = vigil("timeline", "last", "-o", shared / "two.html")
    assert refused.status != 0 and "two.html" in refused.text, refused


def test_a_folder_that_was_given_to_a_user_gives_no_group_of_roots(vigil, home, place):  # noqa: F811
    """'chown USER FOLDER' leaves the group behind."""
    assert vigil("run", "true").status == 0
    groups = place / "g660"
    groups.write_bytes(BEFORE)
    groups.chmod(0o660)
    os.chown(home, ATTACKER, 0)
    (home / "link").symlink_to(groups)
    os.chown(home / "link", ATTACKER, 0, follow_symlinks=False)
    for command in (["report", "last", "--html"], ["timeline", "last", "-o"]):
        vigil(*command, home / "link")
        assert groups.read_bytes() == BEFORE
    made = home / "made.html"
    assert vigil("report", "last", "--html", made).status == 0
    assert made.stat().st_uid == ATTACKER and made.stat().st_gid != 0


HOG = "import time\nx = [b'x' * (1 << 20) for _ in range(720)]\ntime.sleep(60)"
INNOCENT = "import time\nx = [b'x' * (1 << 20) for _ in range(150)]\ntime.sleep(60)"


def test_a_users_program_called_as_a_daemon_is_not_spared_for_it(vigil, home):  # noqa: F811
    raylet = home / "opt/ray/raylet"
    raylet.parent.mkdir(parents=True)
    shutil.copy("/usr/bin/python3.11" if os.path.exists("/usr/bin/python3.11") else os.path.realpath("/usr/bin/python3"), raylet)
    given(raylet)
    script = f'/usr/bin/python3 -c "$1" & sleep 1; {raylet} -c "$2" --log_dir=/x & wait'
    process = vigil.start("run", "--memory-limit", "800M", "--grace", "0", "--policy", "largest", "--",
                          "setpriv", "--reuid", ATTACKER, "--regid", ATTACKER, "--clear-groups", "sh", "-c", script, "sh", INNOCENT, HOG)
    report = wait_for(lambda: next((json.loads(r.out) for r in [vigil("why", "last", "--json")] if r.status == 0 and b"memory_kill" in r.out), None),
                      60, what="the report of the kill")
    assert report["victim"]["name"] == "raylet", report["victim"]
    process.send_signal(signal.SIGTERM)
    vigil.finish(process, 30)


def test_the_end_of_roots_page_removes_nothing_where_a_user_says(vigil, home, place):  # noqa: F811
    folder, closed = home / "folder", place / "closed"
    given(folder.mkdir() or folder)
    closed.mkdir(mode=0o700)
    (closed / "page").write_bytes(BEFORE)
    page = vigil.start("dashboard", "--listen", f"unix:{folder}/page", "--json")
    page.stdout.readline()
    if page.poll() is None:
        folder.rename(home / "before")
        given(folder.symlink_to(closed) or folder)
        page.send_signal(signal.SIGTERM)
    result = vigil.finish(page, 20)
    assert (closed / "page").exists()
    assert result.status == 3 and b"another user can change what lies there" in result.err, result


def test_the_browser_is_told_no_token_in_its_arguments(vigil, tmp_path):
    """Everybody may read the arguments of a program."""
    told, tool = tmp_path / "told", tmp_path / "bin/xdg-open"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nstat -c %a "$1" > {told}.new; echo "$@" >> {told}.new; cat "$1" >> {told}.new; mv {told}.new {told}\n')
    tool.chmod(0o755)
    page = vigil.start("dashboard", "--open", "--json", env={"PATH": f"{tool.parent}:{os.environ['PATH']}"})
    started = json.loads(page.stdout.readline())
    mode, arguments, content = wait_for(lambda: told.exists() and told.read_text(), what="the browser").splitlines()
    assert mode == "600" and started["token"] not in arguments and started["url"] in content
    page.send_signal(signal.SIGTERM)
    vigil.finish(page, 20)
    assert not os.path.exists(arguments), "gone with the server"


ENDLESS = {
    "collectives": lambda path, plain: ["collectives", path],
    "flame": lambda path, plain: ["flame", plain, "--against", path, "-o", "-"],
    "token": lambda path, plain: ["metrics", "--otlp", "http://127.0.0.1:9", "--otlp-token", path],
    "certificate": lambda path, plain: ["dashboard", "--port", "0", "--tls-cert", path, "--tls-key", path],
    "rules": lambda path, plain: ["rules", "test", path],
    "inputs": lambda path, plain: ["map", "-a", path, "true"],
}


@pytest.mark.parametrize("command", ENDLESS)
@pytest.mark.parametrize("kind", ["fifo", "device"])
def test_what_never_ends_in_a_files_place_holds_no_command_of_roots(vigil, home, place, command, kind):  # noqa: F811
    """As a pattern of the shell may name it: /tmp/nccl_trace_rank_*. A user keeps the FIFO open, and writes nothing."""
    path, plain = home / "nccl_trace_rank_3", place / "plain.folded"
    plain.write_text("main;step 3\n")
    if kind == "fifo":
        os.mkfifo(path, 0o666)
    else:
        path.symlink_to("/dev/zero")
    held = os.open(given(path), os.O_RDWR)
    try:
        result = vigil(*ENDLESS[command](path, plain), timeout=10)
    finally:
        os.close(held)
    assert b"of another user's, which may never end" in result.out + result.err, result


def test_roots_own_pipe_is_read(vigil, place):
    fifo, plain = place / "fifo", place / "plain.folded"
    os.mkfifo(fifo, 0o600)
    plain.write_text("main;step 3\n")
    reader = vigil.start("flame", plain, "--against", fifo, "-o", "-")
    fifo.write_text("main;step 4\n")  # waits for the reader
    assert vigil.finish(reader, 10).status == 0
    for stdin in ("-", "/dev/stdin"):
        assert vigil("flame", plain, "--against", stdin, "-o", "-", input=b"main;step 3\n").status == 0


def test_a_file_of_holes_takes_no_memory_of_roots(vigil, home):  # noqa: F811
    path = home / "holes"
    path.touch()
    os.truncate(given(path), 3 << 30)
    for words, said in ((["flame", path], "File too large"), (["collectives", path], "File too large"),
                        (["map", "--resume", "--joblog", path, "true", ":::", "1"], "is no joblog")):
        result = vigil(*words, timeout=20, prefix=["prlimit", f"--as={1 << 30}"])
        assert said.encode() in result.out + result.err, result


@pytest.mark.parametrize("manner", ["--dry-run", "--tag"])
def test_the_name_of_a_users_file_does_nothing_to_roots_terminal(vigil, home, manner):  # noqa: F811
    """As a pattern of the shell names it; what is no terminal gets every byte."""
    file = home / "a\x1b]0;title\x07b"
    file.touch()
    words = ["map", manner, "sh", "-c", "echo it\necho so", "{}", ":::", given(file)]
    ours, theirs = pty.openpty()
    assert vigil(*words, stdout=theirs).status == 0
    os.close(theirs)
    shown = os.read(ours, 1 << 16)
    os.close(ours)
    assert b"\x1b" not in shown and b"\x07" not in shown and b"title" in shown and shown.count(b"\n") == 2, shown
    assert b"\x1b]0;title\x07" in vigil(*words).out
