"""A Prometheus that scrapes `vigil metrics`, a receiver of OTLP that is strict about it, and readers of both text forms."""
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import threading
import time
import urllib.parse
import urllib.request

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_text

from conftest import ROOT, end_tree, wait_for
from notifykit import free_port

SHARE = ROOT / "share"
STEPS = """
import os, sys, time
rank = int(os.environ.get("RANK", 0))
for step in range(1, 100000):
    print(f"step {step}/100000", flush=True)
    time.sleep(0.1)
"""


def samples(text, openmetrics=False):
    """{(name, frozenset of labels): value}; refuses a sample that stands there twice."""
    found = {}
    for family in (read_openmetrics if openmetrics else read_text)(text):
        for s in family.samples:
            key = (s.name, frozenset(s.labels.items()))
            assert key not in found, f"{key} stands there twice"
            found[key] = s.value
    return found


def value(found, name, /, **labels):
    """The value of the only sample of that name that has these labels."""
    hits = [v for (n, have), v in found.items() if n == name and set(labels.items()) <= set(have)]
    assert len(hits) == 1, f"{name} {labels}: {hits} of {sorted(n for n, _ in found)}"
    return hits[0]


def labels_of(found, name):
    return [dict(have) for n, have in found if n == name]


def metrics(vigil, *args, **kwargs):
    result = vigil("metrics", *args, **kwargs)
    assert result.status == 0, result
    return result.out.decode()


class Exporter:
    """Answers a scrape with what `vigil metrics` prints at that moment."""

    def __init__(self, vigil, env=None, *args):
        outer = self
        self.scrapes = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                done = subprocess.run([vigil.binary, "metrics", "--format", "openmetrics", *args], env=vigil.environment(env),
                                      capture_output=True, timeout=30, check=False)
                outer.scrapes += 1
                self.send_response(200 if done.returncode == 0 else 500)
                self.send_header("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
                self.end_headers()
                self.wfile.write(done.stdout)

            def log_message(self, *args):
                pass

        self.httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.httpd.daemon_threads = True
        self.address = "127.0.0.1:%d" % self.httpd.server_address[1]
        threading.Thread(target=self.httpd.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        self.httpd.shutdown()
        self.httpd.server_close()


class Prometheus:
    def __init__(self, folder, target):
        for name in ("vigil-alerts.yml", "vigil-recording.yml"):
            shutil.copy(SHARE / "prometheus" / name, folder)
        (folder / "prometheus.yml").write_text(json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": ["vigil-alerts.yml", "vigil-recording.yml"],
            "scrape_configs": [{"job_name": "vigil", "static_configs": [{"targets": [target]}]}]}))  # YAML reads JSON
        self.url = f"http://127.0.0.1:{free_port()}"
        self.log = open(folder / "log", "wb")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address={self.url[7:]}", "--enable-feature=exemplar-storage"],
            stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        self.folder = folder

    def get(self, path, **query):
        try:
            with urllib.request.urlopen(f"{self.url}{path}?{urllib.parse.urlencode(query)}", timeout=10) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as e:
            return json.loads(e.read()) if e.code != 503 else None  # it is still starting
        except OSError:
            assert self.process.poll() is None, (self.folder / "log").read_text()
            return None

    def query(self, expr):
        """The samples of an expression; fails where Prometheus cannot read it."""
        answer = self.get("/api/v1/query", query=expr)
        assert answer is None or answer["status"] == "success", f"{expr}: {answer}"
        return answer["data"]["result"] if answer else []

    def stop(self):
        end_tree(self.process)
        self.process.wait(20)
        self.log.close()


def dashboard_exprs():
    """Every expression of the dashboard as Grafana sends it, with all of each variable chosen."""
    board = json.loads((SHARE / "grafana/vigil.json").read_text())
    found = [(p["title"], t["expr"]) for p in board["panels"] for t in p.get("targets", [])]
    found += [(a["name"], a["expr"]) for a in board["annotations"]["list"]]
    for v in board["templating"]["list"]:
        if v["type"] == "query":
            found.append((v["name"], re.fullmatch(r"label_values\((.*), \w+\)", v["definition"])[1]))
    return [(title, re.sub(r"\$(node|job|rank)\b", ".*", expr)) for title, expr in found]


# ---- OTLP ----

NUMBER = re.compile(r"-?\d+")


def only(o, required, optional=()):
    assert isinstance(o, dict) and set(required) <= set(o) <= set(required) | set(optional), (required, o)


def check_attributes(attributes):
    for a in attributes:
        only(a, ["key", "value"])
        (kind, v), = a["value"].items()
        assert kind == "stringValue" and isinstance(v, str) or kind == "intValue" and NUMBER.fullmatch(v), a
    keys = [a["key"] for a in attributes]
    assert len(keys) == len(set(keys)), keys
    return {a["key"]: next(iter(a["value"].values())) for a in attributes}


def check_envelope(body, outer, scopes, items):
    only(body, [outer])
    for resource in body[outer]:
        only(resource, ["resource", scopes])
        only(resource["resource"], ["attributes"])
        assert check_attributes(resource["resource"]["attributes"])["service.name"] == "vigil"
        for scope in resource[scopes]:
            only(scope, ["scope", items])
            only(scope["scope"], ["name", "version"])
            yield from scope[items]


def check_point(point, histogram):
    only(point, ["attributes", "timeUnixNano", *(["count", "sum", "bucketCounts", "explicitBounds"] if histogram else [])],
         [] if histogram else ["asInt", "asDouble"])
    check_attributes(point["attributes"])
    assert abs(int(point["timeUnixNano"]) / 1e9 - time.time()) < 120
    if histogram:
        counts = [int(c) for c in point["bucketCounts"]]
        assert len(counts) == len(point["explicitBounds"]) + 1 and sum(counts) == int(point["count"])
        assert point["explicitBounds"] == sorted(set(point["explicitBounds"]))
    else:
        assert ("asInt" in point) != ("asDouble" in point)
        assert NUMBER.fullmatch(point["asInt"]) if "asInt" in point else isinstance(point["asDouble"], float)


def check_metrics(body):
    """{name: points} of an ExportMetricsServiceRequest."""
    found = {}
    for m in check_envelope(body, "resourceMetrics", "scopeMetrics", "metrics"):
        kind, = set(m) & {"gauge", "sum", "histogram"}
        only(m, ["name", "description", "unit", kind])
        only(m[kind], ["dataPoints"], {"gauge": [], "sum": ["aggregationTemporality", "isMonotonic"], "histogram": ["aggregationTemporality"]}[kind])
        assert kind == "gauge" or m[kind]["aggregationTemporality"] == 2
        assert kind != "sum" or m[kind]["isMonotonic"] is True
        assert m["name"] not in found and m[kind]["dataPoints"]
        for point in m[kind]["dataPoints"]:
            check_point(point, kind == "histogram")
        found[m["name"]] = m[kind]["dataPoints"]
    return found


def check_logs(body):
    """The records of an ExportLogsServiceRequest, each with its attributes as a dict."""
    found = []
    for r in check_envelope(body, "resourceLogs", "scopeLogs", "logRecords"):
        only(r, ["timeUnixNano", "observedTimeUnixNano", "severityNumber", "severityText", "body", "attributes"])
        only(r["body"], ["stringValue"])
        assert NUMBER.fullmatch(r["timeUnixNano"]) and (r["severityNumber"], r["severityText"]) in {(9, "INFO"), (13, "WARN"), (17, "ERROR")}
        found.append({**r, "attributes": check_attributes(r["attributes"])})
    return found
