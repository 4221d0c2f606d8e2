"""A server for notices that can misbehave, and what the tests of `vigil notify` share."""
import http.server
import json
import socket
import threading
import time

import pytest


class Server:
    """Answers POSTs as `behave(number)` says; keeps what it got.

    What behave returns: a status; (status, headers, body); "hang", "close", "drip" or "half".
    """

    def __init__(self):
        self.got, self.behave, self.release = [], lambda number: 200, threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                outer.got.append((self.path, dict(self.headers), body, time.time()))
                self.answer(outer.behave(len(outer.got)))

            def answer(self, what):
                if what == "hang":
                    outer.release.wait(60)
                    self.close_connection = True
                elif what == "close":
                    self.close_connection = True
                elif what == "half":
                    self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Le")
                    self.close_connection = True
                elif what == "drip":
                    self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
                    while not outer.release.wait(0.2):
                        self.wfile.write(b"x")
                        self.wfile.flush()
                else:
                    status, headers, text = what if isinstance(what, tuple) else (what, {}, b"")
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)

            def log_message(self, *args):
                pass

            def handle(self):
                try:
                    super().handle()
                except OSError: # the client had enough
                    self.close_connection = True

        self.httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.httpd.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.httpd.server_address[1]}"
        threading.Thread(target=self.httpd.serve_forever, args=(0.05,), daemon=True).start()

    def bodies(self):
        return [json.loads(body) for _, _, body, _ in self.got]

    def stop(self):
        self.release.set()
        self.httpd.shutdown()
        self.httpd.server_close()


@pytest.fixture
def server():
    s = Server()
    yield s
    s.stop()


@pytest.fixture
def channels(tmp_path, vigil):
    """channels([{...}, ...]) writes a configuration and gives the environment that names it."""
    def write(items, name="vigil.yaml"):
        path = tmp_path / name
        path.write_text("notify:\n" + "".join(f"  - {json.dumps(item)}\n" for item in items))
        return {"VIGIL_CONFIG": path}
    return write


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def spool_of(vigil, env):
    result = vigil("notify", "spool", "--json", env=env)
    assert result.status == 0, result
    return {item["channel"]: item for item in map(json.loads, result.out.splitlines())}


def waiting_files(vigil):
    return sorted(p.name for p in (vigil.state / "notify").glob("n-*.json"))


CRASH = ("sh", "-c", "kill -SEGV $$")
