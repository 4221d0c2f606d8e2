"""Servers that vigil sends notices to, and that answer with malice: no memory is taken and the time given is kept."""
import os
import socket
import subprocess
import threading
import time

import pytest

from notifykit import channels  # noqa: F401

LIMIT_MIB = 120
TIMEOUT_S = 2


@pytest.fixture
def serve():
    """serve(answer) gives the port of a server that hands each connection to answer()."""
    open_sockets = []

    def begin(answer):
        s = socket.create_server(("127.0.0.1", 0))
        open_sockets.append(s)

        def one(c):
            with c:
                try:
                    answer(c)
                except OSError:  # vigil has left
                    pass

        def loop():
            while True:
                try:
                    c = s.accept()[0]
                except OSError:
                    return
                c.settimeout(20)
                threading.Thread(target=one, args=(c,), daemon=True).start()
        threading.Thread(target=loop, daemon=True).start()
        return s.getsockname()[1]
    yield begin
    for s in open_sockets:
        s.shutdown(socket.SHUT_RDWR)
        s.close()


def send(vigil, env):
    """(status, what it said, seconds, MiB at most)"""
    begun = time.monotonic()
    p = subprocess.Popen([vigil.binary, "notify", "test", "ops"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         env={**os.environ, "VIGIL_STATE_DIR": str(vigil.state), **{k: str(v) for k, v in env.items()}})
    said = p.stdout.read().decode()
    _, status, used = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    return p.returncode, said, time.monotonic() - begun, used.ru_maxrss / 1024


def request(c):
    text = b""
    while b"\r\n\r\n" not in text:
        text += c.recv(65536)


def more_lines(c):
    while True:
        c.sendall((b"X: " + b"a" * 1000 + b"\r\n") * 100)


def lines_behind_the_body(c):
    request(c)
    c.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
    more_lines(c)


def lines_without_end(c):
    request(c)
    c.sendall(b"HTTP/1.1 200 OK\r\n")
    more_lines(c)


@pytest.mark.parametrize("answer,status", [(lines_behind_the_body, 0), (lines_without_end, 5)])
def test_lines_without_end_take_no_memory(vigil, channels, serve, answer, status):  # noqa: F811
    url = f"http://127.0.0.1:{serve(answer)}/x"
    told = send(vigil, channels([{"name": "ops", "kind": "webhook", "url": url, "timeout": f"{TIMEOUT_S}s"}]))
    assert told[0] == status and told[3] < LIMIT_MIB, told


def mail(c, silent_at):
    lines = c.makefile("rb")
    c.sendall(b"220 x\r\n")
    for line in lines:
        word = line.split()[0].upper()
        if word == silent_at:
            time.sleep(8)
            return
        if word == b"DATA":
            c.sendall(b"354 x\r\n")
            while lines.readline().strip() != b".":
                pass
            if silent_at == b".":
                time.sleep(8)
                return
        c.sendall(b"250 x\r\n")


@pytest.mark.parametrize("silent_at,status", [(b".", 5), (b"QUIT", 0)])
def test_a_mail_server_that_falls_silent_holds_nobody_longer_than_told(vigil, channels, serve, silent_at, status):  # noqa: F811
    url = f"smtp://127.0.0.1:{serve(lambda c: mail(c, silent_at))}"
    told = send(vigil, channels([{"name": "ops", "kind": "email", "url": url, "to": ["a@b.example"],
                                  "starttls": "never", "timeout": f"{TIMEOUT_S}s"}]))
    assert told[0] == status and told[2] < TIMEOUT_S + 3, told
