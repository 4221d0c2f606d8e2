"""The page's server under test: start it, ask it, read its streams, and hold its answers against openapi.json."""
import http.client
import json
import os
import pathlib
import select
import socket
import subprocess
import time
import urllib.parse

from conftest import ROOT, end_tree, wait_for

OPENAPI = json.loads((ROOT / "docs/formats/openapi.json").read_text())


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.headers} {self.body[:600]!r}"


class Server:
    """One `vigil dashboard`; server.get("/api/v1/me"). Ended with the test by the fixture of Vigil."""

    def __init__(self, vigil, *args, port=None, **how):
        self.process = vigil.start("dashboard", "--json", *(["--port", str(port)] if port else []), *args, **how)
        self.told = json.loads(self._line())
        self.token, self.pid = self.told["token"], self.process.pid
        if "address" in self.told:
            url = urllib.parse.urlsplit(self.told["address"])
            self.host, self.port, self.path = url.hostname, url.port, None
        else:
            self.path = self.told["socket"]

    def _line(self):
        ready = select.select([self.process.stdout], [], [], 20)[0]
        line = self.process.stdout.readline() if ready else b""
        assert line, f"the server did not begin: {self.process.stderr.read() if self.process.poll() is not None else ''}"
        return line

    def connect(self, timeout=20):
        if self.path is None:
            return socket.create_connection((self.host, self.port), timeout)
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(timeout)
        s.connect(self.path)
        return s

    def ask(self, method, target, body=None, token=True, headers=None, timeout=60):
        """headers override what is sent by itself; None leaves one out."""
        sent = {"Host": f"127.0.0.1:{self.port}" if self.path is None else "localhost"}
        if token:
            sent["Authorization"] = f"Bearer {self.token if token is True else token}"
        if method not in ("GET", "HEAD"):
            sent["X-Vigil-CSRF"] = "1"
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        sent.update(headers or {})
        c = http.client.HTTPConnection("localhost", timeout=timeout)
        c.sock = self.connect(timeout)
        c.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        for name, value in sent.items():
            if value is not None:
                c.putheader(name, value)
        if body is not None:
            c.putheader("Content-Length", str(len(body)))
        c.endheaders(body)
        r = c.getresponse()
        answer = Answer(r.status, r.headers, r.read())
        c.close()
        return answer

    def get(self, target, **more):
        return self.ask("GET", target, **more)

    def post(self, target, body, **more):
        return self.ask("POST", target, body, **more)

    def tokens(self, state):
        """{role: token} of the file."""
        lines = (state / "web-tokens").read_text().splitlines()[1:]
        return dict(line.split() for line in lines)

    def raw(self, data, timeout=30):
        """What comes back for these bytes until the server closes, and how long that took."""
        began = time.monotonic()
        with self.connect(timeout) as s:
            s.sendall(data)
            got = b""
            try:
                while part := s.recv(65536):
                    got += part
            except ConnectionResetError:
                pass
        return got, time.monotonic() - began

    def is_small(self):
        """Within the 64 MiB that it may take; a sanitizer's own memory is not looked at."""
        if b"__asan_init" in pathlib.Path(f"/proc/{self.pid}/exe").read_bytes():
            return True
        return self.rss() < 64 * 1024 * 1024

    def rss(self):
        return int(pathlib.Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Stream:
    """A stream of server-sent events; next("health") gives the data of the next one of that kind."""

    def __init__(self, server, query="", last=None, headers=None):
        self.c = http.client.HTTPConnection("localhost", timeout=30)
        self.c.sock = server.connect(30)
        headers = {"Host": "localhost", "Authorization": f"Bearer {server.token}", **(headers or {})}
        if last is not None:
            headers["Last-Event-ID"] = str(last)
        self.c.request("GET", f"/api/v1/stream{query}", headers=headers)
        self.r = self.c.getresponse()
        assert self.r.status == 200, self.r.read()
        assert self.r.headers["Content-Type"] == "text/event-stream"
        self.last = last

    def one(self):
        """(event, data) of the next message; comments are passed over."""
        event, data = None, None
        while True:
            line = self.r.readline().decode()
            assert line, "the stream ended"
            line = line.rstrip("\n")
            if line.startswith("id: "):
                self.last = int(line[4:])
            elif line.startswith("event: "):
                event = line[7:]
            elif line.startswith("data: "):
                data = json.loads(line[6:])
            elif line == "" and event:
                return event, data

    def next(self, kind, where=lambda data: True, deadline_s=30):
        end = time.monotonic() + deadline_s
        while time.monotonic() < end:
            event, data = self.one()
            if event == kind and where(data):
                return data
        raise AssertionError(f"no {kind} within {deadline_s} s")

    def close(self):
        self.r.close()
        self.c.close()


def schema_errors(value, schema, where="answer"):
    """What of an answer is not as its schema says. The few keywords that openapi.json uses."""
    if "$ref" in schema:
        schema = OPENAPI["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    if value is None and schema.get("nullable"):
        return
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool}
    kind = schema.get("type")
    if kind and (not isinstance(value, kinds[kind]) or (kind in ("integer", "number") and isinstance(value, bool))):
        yield f"{where}: {kind} expected, got {value!r}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: one of {schema['enum']} expected, got {value!r}"
    if kind == "object":
        for name in schema.get("required", []):
            if name not in value:
                yield f"{where}: {name} is missing"
        for name, part in schema.get("properties", {}).items():
            if name in value:
                yield from schema_errors(value[name], part, f"{where}.{name}")
    if kind == "array":
        for i, one in enumerate(value):
            yield from schema_errors(one, schema["items"], f"{where}[{i}]")


def check(answer, path, method="get", status=200):
    """The answer is what openapi.json says of this route."""
    assert answer.status == status, answer
    said = OPENAPI["paths"][path][method]["responses"]
    content = (said.get(str(status)) or said["default"]).get("content")
    if content and "application/json" in content:
        assert answer.headers["Content-Type"] == "application/json"
        assert not list(schema_errors(answer.json(), content["application/json"]["schema"]))
    return answer


def run_job(vigil, *command, args=(), name="trainjob"):
    """A job that runs; the process of `vigil run`."""
    process = vigil.start("run", "--name", name, *args, "--", *command)
    wait_for(lambda: (vigil.state / "vigil.db").exists(), 20, "the store")
    return process


def ended(server):
    end_tree(server.process)
    try:
        return server.process.wait(10)
    except subprocess.TimeoutExpired:
        return None
