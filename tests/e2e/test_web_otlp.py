"""`vigil dashboard --otlp`: the page's server sends metrics and events while it runs, and says once what does not go."""
import json
import signal
import socket
import threading
import time

import pytest

import webkit
from conftest import wait_for
from metricskit import check_logs, check_metrics
from notifykit import server  # noqa: F401


def posts(receiver, path):
    return [json.loads(body) for p, _, body, _ in list(receiver.got) if p == path]


def test_a_receiver_gets_metrics_again_and_again_and_each_event_once(vigil, server, tmp_path):  # noqa: F811
    assert vigil("run", "--name", "first", "--", "true").status == 0
    (tmp_path / "token").write_text("secret-of-the-receiver\n")
    (tmp_path / "token").chmod(0o600)
    page = webkit.Server(vigil, "--otlp", server.url, "--otlp-token", tmp_path / "token")
    wait_for(lambda: posts(server, "/v1/logs"), 40, "the events")
    assert all(h["Authorization"] == "Bearer secret-of-the-receiver" for _, h, _, _ in server.got)
    assert "vigil_node_memory_used_ratio" in check_metrics(posts(server, "/v1/metrics")[0])
    assert vigil("run", "--name", "second", "--", "true").status == 0

    def told():
        return [r["attributes"]["vigil.seq"] for p in posts(server, "/v1/logs") for r in check_logs(p)]
    events = [json.loads(line) for line in vigil("events", "--json").out.splitlines()]
    wait_for(lambda: len(told()) >= len(events), 60, "the events of the second job")
    assert told() == [str(e["seq"]) for e in events]
    assert page.get("/api/v1/me").status == 200 and page.is_small()
    assert webkit.ended(page) == 0


def test_a_receiver_that_hangs_up_is_told_once_and_the_page_is_served(vigil):
    asked = []

    def hang_up(receiver):
        while True:
            try:
                receiver.accept()[0].close()
            except OSError:
                return
            asked.append(time.monotonic())
    with socket.create_server(("127.0.0.1", 0)) as receiver:
        threading.Thread(target=hang_up, args=[receiver], daemon=True).start()
        page = webkit.Server(vigil, "--otlp", f"http://127.0.0.1:{receiver.getsockname()[1]}")
        said = page.process.stderr.readline().decode()
        while "metrics are not sent" not in said:
            said = page.process.stderr.readline().decode()
            assert said, "the server ended"
        first = time.monotonic()
        assert page.get("/api/v1/me").status == 200
        wait_for(lambda: asked[-1] > first + 20, 90, "a later round")
        page.process.send_signal(signal.SIGTERM)
        more = page.process.communicate(timeout=15)[1].decode()
        receiver.shutdown(socket.SHUT_RDWR)
    assert page.process.returncode == 0 and "not sent" not in more, more


@pytest.mark.parametrize("args", [["--insecure"], ["--otlp-token", "/nowhere"]])
def test_what_says_something_about_otlp_needs_a_receiver(vigil, args):
    result = vigil("dashboard", *args)
    assert result.status == 2 and "--otlp URL" in result.text, result
