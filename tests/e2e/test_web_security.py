"""Attacks on the page's server: each rule of docs/SECURITY.md, from where an attacker would stand."""
import json
import os
import re
import resource
import select
import socket
import ssl
import stat
import subprocess
import threading
import time

import pytest

from conftest import wait_for
from webkit import OPENAPI, Server, check

ATTACKERS_HOSTS = ("evil.com", "127.0.0.1.evil.com", "localhost.evil.com:9877", "169.254.169.254", "", "[::ffff:127.0.0.1]", "0.0.0.0",
                   "localhost:notaport", "127.0.0.1@evil.com")


@pytest.fixture
def server(vigil):
    assert vigil("run", "--name", "t", "--", "echo", "hello").status == 0
    return Server(vigil)


def test_rebinding_is_answered_to_nobody(server):
    for host in ATTACKERS_HOSTS:
        for target in ("/", "/api/v1/me", "/api/v1/stream"):
            answer = server.get(target, headers={"Host": host})
            assert answer.status == 421 and answer.json()["error"] == "host", (host, target, answer)
    got, _ = server.raw(b"GET /api/v1/me HTTP/1.0\r\n\r\n")
    assert b" 421 " in got.split(b"\r\n")[0]
    twice, _ = server.raw(f"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.com\r\nConnection: close\r\n\r\n".encode())
    assert b" 400 " in twice.split(b"\r\n")[0]


def test_further_hosts_only_if_named(vigil):
    server = Server(vigil, "--allow-host", "hub.example.org")
    assert server.get("/api/v1/me", headers={"Host": "hub.example.org"}).status == 200
    assert server.get("/api/v1/me", headers={"Host": "example.org"}).status == 421


def test_no_token_no_data_whatever_the_method(server):
    for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "get", "X"):
        for path in OPENAPI["paths"]:
            if path.endswith(("login", "logout")):
                continue
            target = path.format(job="last", incident="x", file="0-0-out", profile="x")
            for token in (False, "0" * 64, "", server.token[:-1], server.token + "0", server.token.upper()):
                answer = server.ask(method, target, token=token)
                assert answer.status in (401, 429), (method, target, answer)
                assert b"echo hello" not in answer.body
    assert server.get("/api/v1/me").status == 200 # the right one still goes


def test_other_origins_and_sites_change_and_read_nothing(server):
    want = {"kind": "stack", "job": "last"}
    for headers in ({"Origin": "http://evil.com"}, {"Origin": "null"}, {"Origin": "http://localhost:8888"},
                    {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"X-Vigil-CSRF": None}, {"X-Vigil-CSRF": "0"}):
        for method, target, body in (("POST", "/api/v1/profiles", want), ("DELETE", "/api/v1/profiles/x", None), ("PUT", "/x", want),
                                     ("POST", "/api/v1/login", {"token": server.token}), ("POST", "/api/v1/jobs/last/signal", {})):
            answer = server.ask(method, target, body, headers=headers)
            assert answer.status == 403, (headers, method, target, answer)
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "http://evil.com"}):
        assert server.get("/api/v1/jobs", headers=headers).status == 403
        assert server.get("/worker/traceback?pid=1", headers=headers).status == 403
    for headers in ({"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {"Origin": f"http://127.0.0.1:{server.port}"}):
        assert server.get("/api/v1/jobs", headers=headers).status == 200
    preflight = server.ask("OPTIONS", "/api/v1/profiles", headers={"Origin": "http://evil.com"})
    assert preflight.status == 403 and not any(h.lower().startswith("access-control") for h in preflight.headers)


def test_headers_of_every_answer(server):
    for answer in (server.get("/"), server.get("/api/v1/jobs"), server.get("/api/v1/nix"), server.get("/", headers={"Host": "x"}),
                   server.get("/api/v1/me", token=False), server.ask("PUT", "/")):
        h = answer.headers
        assert "default-src 'self'" in h["Content-Security-Policy"] and "frame-ancestors 'none'" in h["Content-Security-Policy"]
        assert h["X-Content-Type-Options"] == "nosniff" and h["Referrer-Policy"] == "no-referrer"
        assert h["Cross-Origin-Opener-Policy"] == "same-origin"
        assert not any(name.lower().startswith("access-control") for name in h)
        assert "Server" not in h


def test_a_session_by_cookie(server):
    bad = server.post("/api/v1/login", {"token": "0" * 64}, token=False)
    assert bad.status == 401 and "Set-Cookie" not in bad.headers
    for body in (b"", b"[]", b"{", b'{"token": 5}', b"\xff\xfe", b'{"token": "' + b"a" * 5000 + b'"}'):
        assert server.post("/api/v1/login", body, token=False).status in (400, 401)
    answer = server.post("/api/v1/login", {"token": server.token}, token=False)
    assert answer.status == 204
    cookie = answer.headers["Set-Cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; ")) and cookie.startswith(f"vigil_session_{server.port}=")
    assert server.token not in cookie
    pair = cookie.split(";")[0]
    assert server.get("/api/v1/me", token=False, headers={"Cookie": pair}).json()["role"] == "admin"
    for forged in (pair[:-1], pair + "0", pair.replace("=3.", "=9."), pair.replace(str(server.port), "1"), pair.split("=")[0] + "=3.9999999999."):
        assert server.get("/api/v1/me", token=False, headers={"Cookie": forged}).status == 401, forged
    other = server.get("/api/v1/me", token="0" * 64, headers={"Cookie": pair}) # a wrong token is not mended by a cookie
    assert other.status == 401


def test_wrong_tokens_are_slowed_and_right_ones_never(server):
    statuses = [server.post("/api/v1/login", {"token": f"{i:064d}"}, token=False).status for i in range(40)]
    assert statuses[0] == 401 and statuses[-1] == 429
    assert server.post("/api/v1/login", {"token": server.token}, token=False).status == 204


def code_of(url):
    return re.fullmatch(r"https?://[^#]+#code=([0-9a-f]{64})", url).group(1)


def login(server, **proof):
    return server.post("/api/v1/login", proof, token=False)


def test_the_address_opens_once_and_holds_no_token(vigil, server, state):
    """Whoever reads the printed line later, in a log or a picture, is nobody."""
    code = code_of(server.told["url"])
    tokens = server.tokens(state)
    assert code not in tokens.values() and code not in (state / "web-tokens").read_text()
    assert not any(t in server.told["url"] for t in tokens.values())
    assert login(server, token=code).status == 401 and server.get("/api/v1/me", token=code).status == 401  # it is for login alone
    assert login(server, code=code, token=server.token).status == 400
    opened = login(server, code=code)
    pair = opened.headers["Set-Cookie"].split(";")[0]
    assert opened.status == 204 and server.get("/api/v1/me", token=False, headers={"Cookie": pair}).json()["role"] == "admin"
    for cookie in (None, pair):
        again = server.post("/api/v1/login", {"code": code}, token=False, headers={"Cookie": cookie})
        assert again.status == 401 and "Set-Cookie" not in again.headers
        assert "used already" in again.json()["text"] and f"vigil dashboard --port {server.port}" in again.json()["text"]
    assert server.get("/api/v1/me", token=False, headers={"Cookie": pair}).status == 200  # the browser that has it goes on
    assert login(server, code=code_of(Server(vigil).told["url"])).status == 401  # another server's
    elsewhere = Server(vigil, "--listen", "127.0.0.2:0")  # where the command asks nobody
    assert "file web-tokens" in login(elsewhere, code=code).json()["text"]
    assert f"vigil dashboard --port {server.port}" in server.get("/api/v1/me", token=False).json()["text"]


def test_wrong_codes_are_slowed_and_right_ones_never(server):
    statuses = [login(server, code=f"{i:064d}").status for i in range(40)]
    assert statuses[0] == 401 and statuses[-1] == 429
    assert login(server, token="0" * 64).status == 429  # both count together
    assert login(server, code=code_of(server.told["url"])).status == 204


def test_a_token_gives_codes_of_its_role_and_a_session_gives_none(server, state):
    for role, token in server.tokens(state).items():
        given = check(server.post("/api/v1/login/code", b"", token=token), "/api/v1/login/code", "post").json()
        assert given["role"] == role and given["address"] == server.told["address"]
        opened = login(server, code=given["code"])
        cookie = {"Cookie": opened.headers["Set-Cookie"].split(";")[0]}
        assert server.get("/api/v1/me", token=False, headers=cookie).json()["role"] == role
        assert login(server, code=given["code"]).status == 401
        for more in ({}, {"Authorization": "Basic eA=="}, {"Authorization": "x"}, {"Authorization": ""}):  # a proxy's, or made up
            asked = server.post("/api/v1/login/code", b"", token=False, headers={**cookie, **more})
            assert asked.status == 403, more  # else it would last for ever
    assert server.post("/api/v1/login/code", b"", headers={"X-Vigil-CSRF": None}).status == 403
    for _ in range(70):
        server.post("/api/v1/login/code", b"")
    assert login(server, code=code_of(server.told["url"])).status == 204  # the printed one is not pushed out


def test_a_taken_port_of_ones_own_server_prints_a_new_address(vigil, server, tmp_path):
    port = str(server.port)
    printed = vigil("dashboard", "--port", port)
    assert printed.status == 0 and server.token not in printed.text
    first = code_of(re.search(r"the page is at (\S+)", printed.text).group(1))
    told = json.loads(vigil("dashboard", "--port", port, "--json").out)
    assert told["address"] == server.told["address"] and "pid" not in told and port in told["note"]
    for code in (first, code_of(told["url"])):
        assert [login(server, code=code).status for _ in range(2)] == [204, 401]
    foreign = vigil("dashboard", "--port", port, "--state", tmp_path / "other")
    assert foreign.status == 3 and "--state" in foreign.text, foreign
    assert server.get("/api/v1/me").status == 200


class Recorder(threading.Thread):
    """A program that listens and keeps what it is sent."""

    def __init__(self, answer=b""):
        super().__init__(daemon=True)
        self.socket, self.answer, self.got = socket.create_server(("127.0.0.1", 0)), answer, b""
        self.port = self.socket.getsockname()[1]
        self.start()

    def run(self):
        while True:
            try:
                s, _ = self.socket.accept()
            except OSError:
                return
            with s:
                self.got += s.recv(65536)
                s.sendall(self.answer)


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.0 200 OK\r\n\r\n{}", b"HTTP/1.0 401 No\r\n\r\n<html>", b"\x15\x03\x03" * 4000], ids=range(4))
def test_another_program_at_the_port_is_sent_no_token(vigil, server, answer):
    other = Recorder(answer)
    refused = vigil("dashboard", "--port", str(other.port))
    other.socket.close()
    assert refused.status == 1 and f"port {other.port} is taken by" in refused.text and len(refused.text.strip().splitlines()) == 1
    assert b"Authorization" not in other.got and server.token.encode() not in other.got


def test_another_users_server_at_the_port_is_asked_nothing(vigil, server, as_nobody):
    """It answers as vigil does, and waits for a token."""
    if not as_nobody:
        pytest.skip("it takes another user to listen")
    listen = ("import socket; l=socket.create_server(('127.0.0.1',0)); print(l.getsockname()[1],flush=True); l.settimeout(30)\n"
              "while True:\n s,_=l.accept(); print(s.recv(9999),flush=True)\n"
              " s.sendall(b'HTTP/1.0 401 No\\r\\n\\r\\n{\"schema\":\"vigil.error/1\"}'); s.close()")
    other = subprocess.Popen([*as_nobody, "/usr/bin/python3", "-c", listen], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    port = other.stdout.readline().strip()
    refused = vigil("dashboard", "--port", port)
    other.kill()
    assert refused.status == 1 and f"port {port} is taken by" in refused.text
    assert "GET" not in other.communicate()[0]


def test_the_file_of_tokens_is_private(vigil, server, state):
    file = state / "web-tokens"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    tokens = server.tokens(state)
    assert len(set(tokens.values())) == 3 and all(re.fullmatch("[0-9a-f]{64}", t) for t in tokens.values())
    assert tokens["admin"] == server.token
    assert server.get("/api/v1/me", token=tokens["viewer"]).json()["role"] == "viewer"
    file.chmod(0o644)
    refused = vigil("dashboard")
    assert refused.status == 3 and "0600" in refused.text
    file.unlink()
    file.symlink_to("/etc/passwd")
    assert vigil("dashboard").status != 0 and file.is_symlink()
    file.unlink()
    file.write_text("vigil.tokens/1\nviewer x\n")
    file.chmod(0o600)
    assert "three tokens" in vigil("dashboard").text


def test_paths_lead_nowhere_else(server, state):
    (state / "secret").write_text("do not show this")
    targets = ["/../secret", "/..%2fsecret", "/%2e%2e/secret", "/api/v1/jobs/last/logs/..%2f..%2f..%2fsecret", "/api/v1/jobs/last/logs/%2e%2e",
               "/api/v1/jobs/..", "/api/v1/incidents/..%5c..", "/api/v1/profiles/..%2f..%2fsecret/data", "/web-tokens", "/api/v1/jobs/%00/logs",
               "//etc/passwd", "/api/v1/jobs/last/logs/0-0-out%2f..%2f..", "http://localhost/etc/passwd", "/%c0%ae%c0%ae/secret", "/\\..\\secret",
               "/index.html/../secret", "/index.html%00.js"]
    for target in targets:
        got, _ = server.raw(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.token}\r\nConnection: close\r\n\r\n".encode())
        status = got.split(b" ")[1]
        assert status in (b"400", b"404"), (target, got[:200])
        assert b"do not show" not in got and b"root:" not in got and b"admin " not in got


def test_what_is_no_request_is_refused(server):
    head = f"Host: localhost\r\nAuthorization: Bearer {server.token}\r\n"
    for data in (b"\x00" * 100 + b"\r\n\r\n", b"\x16\x03\x01\x02\x00" * 20, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n" + head.encode() + b"\r\n",
                 b"GET /api/v1/jobs?" + b"a=1&" * 2000 + b" HTTP/1.1\r\n" + head.encode() + b"Connection: close\r\n\r\n",
                 b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n" + head.encode() + b"\r\n",
                 b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20000 + b"\r\n",
                 b"POST /api/v1/login HTTP/1.1\r\nContent-Length: -1\r\n" + head.encode() + b"\r\n",
                 b"POST /api/v1/login HTTP/1.1\r\nTransfer-Encoding: chunked\r\nX-Vigil-CSRF: 1\r\n" + head.encode() + b"\r\nffffffffffffffffff\r\n"):
        try:
            got, _ = server.raw(data)
        except BrokenPipeError:
            continue
        assert b" 200 " not in got.split(b"\r\n")[0], data[:60]
    assert server.get("/api/v1/me").status == 200


@pytest.mark.parametrize("lines", [b"Host : evil", b"X y: a", b"X(: a", b"X\xe9: a", b"X: \x01", b"X: \x7f", b"Content-Length : 4",
                                   b"Content-Length: 4\r\nContent-Length: 4", b"Content-Length: 4\r\nTransfer-Encoding: chunked",
                                   b"Transfer-Encoding: xchunked", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"], ids=repr)
def test_a_head_that_can_be_read_in_two_ways_ends_the_connection(server, lines):
    """What stands in front of the server may have taken what follows for a body."""
    own = f"Host: localhost\r\nX-Vigil-CSRF: 1\r\nAuthorization: Bearer {server.token}\r\n".encode()
    follows = b"GET /api/v1/me HTTP/1.1\r\n" + own + b"\r\n"
    got, _ = server.raw(b"POST /api/v1/login HTTP/1.1\r\n" + own + lines + b"\r\n\r\n" + follows * 2, timeout=5)
    assert got.startswith(b"HTTP/1.1 400 ") and got.count(b"HTTP/1.1 ") == 1 and b"vigil.me" not in got, got
    assert b"connection: close\r\n" in got.lower(), got


def test_a_body_that_is_too_large(server):
    big = json.dumps({"token": "a" * 70000}).encode()
    answer = server.post("/api/v1/login", big, token=False)
    assert answer.status == 413 and answer.json()["error"] == "too_large"
    assert server.is_small()
    # announced as endless, in chunks
    with server.connect(30) as s:
        s.sendall(b"POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nX-Vigil-CSRF: 1\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            for _ in range(400):
                s.sendall(b"10000\r\n" + b"a" * 65536 + b"\r\n")
            s.sendall(b"0\r\n\r\n")
            got = s.recv(65536)
        except (BrokenPipeError, ConnectionResetError):
            got = b""
    assert b" 20" not in got[:20]
    assert server.is_small()


@pytest.mark.slow
def test_slow_clients_are_cut_off(server):
    """One that sends a byte now and then keeps no connection, in the head or in the body."""
    slow = [b"GET /api/v1/me HTTP/1.1\r\nX: ", b"POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nX-Vigil-CSRF: 1\r\nContent-Length: 60000\r\n\r\n", b""]
    sockets = []
    for data in slow:
        s = server.connect(60)
        s.sendall(data)
        sockets.append(s)
    began = time.monotonic()
    left = set(sockets)
    while left and time.monotonic() - began < 60:
        for s in list(left):
            try:
                if s is not sockets[2]:
                    s.sendall(b"a")
                ready = select.select([s], [], [], 0.5)[0]
                if ready and s.recv(4096) == b"":
                    left.discard(s)
            except OSError:
                left.discard(s)
    assert not left, f"{len(left)} still held after {time.monotonic() - began:.0f} s"
    assert server.get("/api/v1/me").status == 200


@pytest.mark.slow
def test_thousands_of_connections(server):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    held = []
    try:
        for _ in range(3000):
            try:
                held.append(server.connect(2))
            except OSError:
                break
        assert len(held) > 1000
        assert server.is_small()
    finally:
        for s in held:
            s.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    def answers():
        try:
            return server.get("/api/v1/me", timeout=5).status == 200
        except OSError:
            return False
    wait_for(answers, 40, "the server to answer again")


def test_off_loopback_only_with_tls(vigil, tmp_path):
    refused = vigil("dashboard", "--listen", "0.0.0.0:0")
    assert refused.status == 2 and "TLS" in refused.text
    cert, key = tmp_path / "c.pem", tmp_path / "k.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    wrong = vigil("dashboard", "--listen", "0.0.0.0:0", "--tls-cert", key, "--tls-key", cert)
    assert wrong.status == 2 and "PEM" in wrong.text
    server = Server(vigil, "--listen", "0.0.0.0:0", "--tls-cert", cert, "--tls-key", key)
    assert server.told["address"].startswith("https://")
    context = ssl.create_default_context(cafile=cert)
    with socket.create_connection(("127.0.0.1", server.port), 20) as plain, context.wrap_socket(plain, server_hostname="localhost") as s:
        s.sendall(f"GET /api/v1/me HTTP/1.1\r\nHost: localhost:{server.port}\r\nAuthorization: Bearer {server.token}\r\nConnection: close\r\n\r\n".encode())
        got = b""
        while part := s.recv(65536):
            got += part
    assert b"200 OK" in got and b"Strict-Transport-Security" in got and b"vigil.me/1" in got
    with socket.create_connection(("127.0.0.1", server.port), 20) as s:
        s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        s.settimeout(10)
        try:
            assert b"200 OK" not in s.recv(4096)
        except ConnectionResetError:
            pass


def test_another_user_of_the_machine_gets_nothing_by_the_socket(vigil, tmp_path, as_nobody):
    if not as_nobody:
        pytest.skip("it takes another user to knock")
    path = tmp_path / "s"
    server = Server(vigil, "--listen", f"unix:{path}")
    path.chmod(0o666)
    for folder in path.parents: # so that only the server's own check stands in the way
        if folder != folder.parent and folder.is_relative_to("/tmp") and str(folder) != "/tmp":
            folder.chmod(folder.stat().st_mode | 0o755)
    knock = ("import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); "
             "s.sendall(('GET /api/v1/me HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\nAuthorization: Bearer '+sys.argv[2]+'\\r\\n\\r\\n').encode()); "
             "print(s.recv(4096).decode())")
    got = subprocess.run([*as_nobody, "/usr/bin/python3", "-c", knock, path, server.token], capture_output=True, text=True, timeout=30, check=False)
    assert " 403 " in got.stdout.split("\n")[0], got


def test_secrets_of_a_command_line_are_masked(vigil):
    assert vigil("run", "--name", "s", "--", "sh", "-c", "true", "--password=hunter2verysecret").status == 0
    server = Server(vigil)
    for target in ("/api/v1/jobs", "/api/v1/jobs/last", "/api/v1/jobs/last/processes", "/api/v1/events", "/api/v1/jobs/last/timeline"):
        answer = server.get(target)
        assert answer.status == 200 and b"hunter2verysecret" not in answer.body, answer
    assert os.path.exists(vigil.state / "vigil.db")
