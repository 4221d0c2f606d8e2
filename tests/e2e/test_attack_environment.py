"""Root's vigil in an environment that a user had a say in: sudo -E and su -m leave HOME, PATH and what is vigil's own."""
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import urllib.request

import pytest

from conftest import wait_for
from notifykit import channels, server  # noqa: F401
from strangerkit import ATTACKER, home, needs_root, place  # noqa: F401
from test_terminal import terminal  # noqa: F401
from webkit import Server

pytestmark = needs_root

LIBRARY = """
#include <stdlib.h>
__attribute__((constructor)) static void loaded(void) { (void)!system("touch %s"); }
"""


@pytest.fixture
def mark(place):  # noqa: F811
    """What the attacker's program makes, once it runs."""
    return place / "it-ran"


def given(path):
    os.chown(path, ATTACKER, ATTACKER)
    return path


@pytest.fixture
def evil(home, mark):  # noqa: F811
    """A library of the attacker's that tells when it is loaded."""
    source, library = home / "evil.c", home / "evil.so"
    source.write_text(LIBRARY % mark)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    return given(library)


@pytest.fixture
def program(home, mark):  # noqa: F811
    """program(name): one of the attacker's, in a folder of theirs."""
    def make(name):
        path = home / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\ntouch {mark}\n")
        path.chmod(0o755)
        given(path.parent)
        return given(path)
    return make


@pytest.fixture
def pager(home, mark):  # noqa: F811
    (home / "bin").mkdir()
    program = home / "bin/less"
    program.write_text(f"#!/bin/sh\ntouch {mark}\nexec cat\n")
    program.chmod(0o755)
    given(home / "bin")
    return given(program)


@pytest.mark.parametrize("variable", ["VIGIL_NVML_PATH", "VIGIL_DCMI_PATH"])
def test_a_users_library_is_not_loaded(vigil, mark, evil, variable):
    told = vigil("gpus", env={"VIGIL_NVML_PATH": "/nowhere", "VIGIL_DCMI_PATH": "/nowhere", variable: evil})
    assert not mark.exists()
    assert f"{variable} ({evil}) is not used" in told.text, told


def test_a_users_folder_of_data_is_not_used(vigil, home):  # noqa: F811
    shutil.copytree(os.path.join(os.path.dirname(__file__), "../../rules"), home / "rules")
    given(home / "rules")
    result = vigil("run", "--", "true", env={"VIGIL_DATA_DIR": home})
    assert "VIGIL_DATA_DIR" in result.text and "not used" in result.text, result


def test_output_of_roots_tasks_is_not_kept_where_a_user_may_serve_the_files(vigil, home):  # noqa: F811
    result = vigil("map", "--group", "sh", "-c", "readlink /proc/$$/fd/1", ":::", "x", env={"TMPDIR": home})
    assert result.status == 0 and result.out and str(home) not in str(result.out), result


def test_a_users_pager_is_not_started(terminal, pager, mark):  # noqa: F811
    assert "--retries" in terminal("help", "run", rows=10, env={"PAGER": str(pager)}).read()
    assert not mark.exists()


def test_a_pager_is_not_looked_for_in_a_users_folder(terminal, pager, mark):  # noqa: F811
    less = terminal("help", "run", rows=10, env={"PATH": f"{pager.parent}:{os.environ['PATH']}", "PAGER": "less"})
    less.read(until=rb":\x1b?")
    assert not mark.exists()


def test_a_pager_of_roots_writes_nothing_into_a_users_home(terminal, home):  # noqa: F811
    less = terminal("help", "run", rows=10, env={"HOME": str(home), "PAGER": "less"})
    less.read(until=rb":\x1b?")
    os.write(less.master, b"/nproc\r")
    less.read(until=rb"\x1b\[7mnproc")
    os.write(less.master, b"q")
    less.read()
    assert list(home.iterdir()) == []


def test_a_users_script_is_no_argument_of_roots_pager(terminal, program, mark):
    less = terminal("help", "run", rows=10, env={"PAGER": f"sh {program('page')}", "SUDO_UID": str(ATTACKER)})
    assert "Usage" in less.read(until=rb":\x1b?") and not mark.exists()
    os.write(less.master, b"q")
    less.read()


def test_a_name_in_a_shared_folder_is_not_used_that_anybody_could_take(vigil):
    told = vigil("gpus", env={"VIGIL_NVML_PATH": "/tmp/vigil-nobody-has-made-it.so"})
    assert "VIGIL_NVML_PATH (/tmp/vigil-nobody-has-made-it.so) is not used" in told.text, told


def test_nor_a_library_that_everybody_may_write_to(vigil, place, mark, evil):  # noqa: F811
    library = place / "shared.so"
    shutil.copy(evil, library)
    library.chmod(0o777)
    vigil("gpus", env={"VIGIL_NVML_PATH": library})
    assert not mark.exists()


def openssl_conf(home, evil):  # noqa: F811
    conf = home / "openssl.cnf"
    conf.write_text(f"openssl_conf = a\n[a]\nproviders = b\n[b]\nc = d\n[d]\nmodule = {evil}\nactivate = 1\n")
    return given(conf)


def test_a_library_of_tls_loads_nothing_of_a_users(vigil, home, mark, evil):  # noqa: F811
    told = vigil("metrics", "--otlp", "http://127.0.0.1:1", env={"OPENSSL_CONF": openssl_conf(home, evil)})
    assert b"did not take it" in told.err, told
    assert not mark.exists()


def test_nor_does_what_delivers_notices(vigil, home, mark, evil, channels, server):  # noqa: F811
    env = channels([{"name": "ops", "kind": "webhook", "url": server.url, "group-wait": "0s"}])
    told = vigil("notify", "test", "ops", env={**env, "OPENSSL_CONF": openssl_conf(home, evil)})
    assert server.got, told
    assert not mark.exists()


def test_secrets_of_tls_are_not_written_where_a_user_says(vigil, home, place, tmp_path):  # noqa: F811
    closed = place / "closed"
    closed.write_text("root's\n")
    link = home / "link"
    link.symlink_to(closed)
    os.chown(link, ATTACKER, ATTACKER, follow_symlinks=False)
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "1",
                    "-subj", "/CN=localhost"], check=True, capture_output=True)
    page = vigil.start("dashboard", "--json", "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key,
                       env={"SSLKEYLOGFILE": str(link)})
    url = json.loads(page.stdout.readline())["url"]
    try:
        urllib.request.urlopen(url.split("#")[0], context=ssl._create_unverified_context(), timeout=10).read()
    except OSError as e:
        assert "HTTP" in type(e).__name__, e
    page.send_signal(signal.SIGTERM)
    vigil.finish(page, 20)
    assert closed.read_text() == "root's\n"


@pytest.mark.parametrize("form", ["unixexec", "their socket"])
def test_a_bus_that_a_user_names_is_not_asked(vigil, begin, home, mark, program, tmp_path, form):  # noqa: F811
    """Where systemd-oomd is, `vigil protect` asks systemd."""
    daemon = tmp_path / "systemd-oomd"
    shutil.copy("/bin/sleep", daemon)
    begin("sh", "-c", 'echo begun; "$1" 60 & wait', "sh", daemon)
    job = begin("sh", "-c", "echo begun; exec sleep 60")
    theirs = socket.socket(socket.AF_UNIX)
    theirs.bind(str(home / "bus"))
    theirs.listen()
    theirs.setblocking(False)
    given(home / "bus")
    address = f"unixexec:path={program('bus')}" if form == "unixexec" else f"unix:path={home}/bus"
    vigil("protect", "--dry-run", str(job.pid), env={"DBUS_SYSTEM_BUS_ADDRESS": address})
    assert not mark.exists()
    with pytest.raises(BlockingIOError):
        theirs.accept()
    theirs.close()


def test_roots_screen_speaks_no_language_of_a_users(terminal, home, mark, evil):
    """A language's way to write letters is a library of whoever says where."""
    usual = pathlib.Path("/usr/lib/locale/C.utf8/LC_CTYPE")
    if not usual.exists():
        pytest.skip("the C library's own language lies elsewhere")
    (home / "xx").mkdir()
    (home / "xx/LC_CTYPE").write_bytes(usual.read_bytes().replace(b"UTF-8\0", b"EVIL8\0"))
    (home / "gconv-modules").write_text("module EVIL8// INTERNAL evil 1\nmodule INTERNAL EVIL8// evil 1\n")
    for path in (home, home / "xx", home / "xx/LC_CTYPE", home / "gconv-modules"):
        given(path)
    top = terminal("top", env={"LOCPATH": str(home), "GCONV_PATH": str(home), "LC_ALL": "xx", "TERM": "xterm"})
    try:
        top.read(until=rb"(?i)pid")
    finally:
        assert not mark.exists()
    os.write(top.master, b"q")
    top.read()


def page_opened(vigil, env):
    page = vigil.start("dashboard", "--open", "--json", env=env)
    assert json.loads(page.stdout.readline())["url"]
    return page


def test_a_users_browser_is_not_started(vigil, program, mark, place):  # noqa: F811
    """The first that PATH has is the user's, the second root's."""
    told, tool = place / "told", place / "bin/xdg-open"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\nenv > {told}.new; mv {told}.new {told}\n")
    tool.chmod(0o755)
    theirs = program("xdg-open")
    page = page_opened(vigil, {"PATH": f"{theirs.parent}:{tool.parent}:{os.environ['PATH']}", "BROWSER": str(theirs),
                               "HOME": str(theirs.parent.parent), "XDG_DATA_HOME": str(theirs.parent), "DISPLAY": ":7"})
    got = dict(line.split("=", 1) for line in wait_for(lambda: told.exists() and told.read_text(), what="the browser").splitlines())
    page.send_signal(signal.SIGTERM)
    vigil.finish(page, 20)
    assert not mark.exists()
    assert got["DISPLAY"] == ":7" and str(theirs.parent) not in str(got), got


def test_a_program_of_a_channel_is_not_looked_for_in_a_users_folder(vigil, home, program, mark, channels, place):  # noqa: F811
    told = place / "told"
    tool = place / "bin/tell-ops"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\ncat > /dev/null; echo $HOME > {told}\n")
    tool.chmod(0o755)
    theirs = program("tell-ops")
    env = channels([{"name": "ops", "kind": "exec", "argv": ["tell-ops"], "group-wait": "0s"}])
    result = vigil("notify", "test", "ops", env={**env, "HOME": str(home), "PATH": f"{theirs.parent}:{tool.parent}:{os.environ['PATH']}"})
    assert told.exists() and not mark.exists(), result
    assert str(home) not in told.read_text()


@pytest.mark.parametrize("words, variable", [(["report"], "VIGIL_HTML"), (["timeline"], "VIGIL_OUTPUT")])
def test_root_writes_no_file_that_a_users_variable_names(vigil, tmp_path, words, variable):
    assert vigil("run", "--", "true").status == 0
    roots = tmp_path / "roots"
    roots.write_text("root's own words\n")
    result = vigil(*words, env={variable: roots, "SUDO_UID": str(ATTACKER)})
    assert roots.read_text() == "root's own words\n" and f"{variable} is not used".encode() in result.err
    vigil(*words, env={variable: roots})
    assert roots.read_text() != "root's own words\n"  # root's own variable is


def test_root_sends_no_file_that_a_users_variable_names(vigil, tmp_path, server):  # noqa: F811
    token = tmp_path / "token"
    token.write_text("only-root-may-read-this\n")
    token.chmod(0o600)
    vigil("metrics", env={"VIGIL_OTLP": server.url, "VIGIL_OTLP_TOKEN": token, "SUDO_UID": str(ATTACKER)})
    assert not server.got


@pytest.mark.parametrize("whose, status", [({"SUDO_UID": str(ATTACKER)}, 421), ({}, 200)])
def test_a_users_variable_opens_roots_page_to_no_host(vigil, whose, status):
    page = Server(vigil, env={"VIGIL_ALLOW_HOST": "evil.example", **whose})
    assert page.get("/api/v1/me", headers={"Host": "evil.example"}).status == status


@pytest.mark.parametrize("form", ["{}", ":{}", "../../../..{}", "TZDIR"])
def test_a_users_fifo_as_a_time_zone_holds_no_command_of_roots(vigil, home, form):  # noqa: F811
    fifo = home / "zone"
    os.mkfifo(fifo)
    env = {"TZDIR": home, "TZ": "zone"} if form == "TZDIR" else {"TZ": form.format(fifo)}
    assert vigil("run", "--", "true").status == 0
    assert vigil("jobs", env=env, timeout=15).status == 0
    assert b"EST" in vigil("run", "--", "date", "+%Z", env={"TZ": "EST5EDT"}).out.replace(b"EDT", b"EST")
