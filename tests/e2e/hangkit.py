"""What tests of hangs share."""
import json

import psutil
import pytest

from conftest import wait_for


def events(vigil, kind=None):
    lines = vigil("events", "--json").out.decode().splitlines()
    found = [json.loads(line) for line in lines]
    return [e for e in found if kind is None or e["kind"] == kind]


def looks(report):
    return (report["kind"], report["cause"]["id"], report.get("culprit_ranks", []))


def shown(report):
    return " ".join(e["text"] for e in report["evidence"]) + report["cause"]["text"]


def need_bpf(vigil):
    missing = [f["text"] for f in vigil("doctor", "--json").json()["findings"] if f["id"] in ("no-bpf", "no-wakers")]
    if missing:
        pytest.skip(f"the kernel permits no such BPF program here: {missing}")


def ranks_of(process, n):
    def look():
        found = {}
        for child in psutil.Process(process.pid).children(recursive=True):
            try:
                if "hangs.py" in " ".join(child.cmdline()):
                    found[int(child.environ()["RANK"])] = child.pid
            except (psutil.NoSuchProcess, KeyError):
                pass
        return [found[r] for r in range(n)] if len(found) == n else None
    return wait_for(look, 30, "the ranks")


def watcher_of(vigil_process):
    def look():
        for child in psutil.Process(vigil_process.pid).children():
            try:
                if child.name() == "vigil-hang" and child.status() != psutil.STATUS_ZOMBIE:
                    return child.pid
            except psutil.NoSuchProcess:
                pass
        return None
    return wait_for(look, 30, "the watcher")
