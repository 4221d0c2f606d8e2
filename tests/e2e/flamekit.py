"""Recordings for the tests of `vigil flame`'s writers, and the program that writes them in each form."""
import json
import os
import pathlib
import random
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MS = 10 ** 6
# What a program may have put into a function's name.
HOSTILE = ["<script>alert(1)</script>", "</script><script>document.title='broken'</script>", "a\"b'c&d]]>e</title>",
           "ctrl\x01\x1b[2J\n\tend", "semi;colon 7", "\u202egnihsab", "<!--<script>", "${x}`\\u003c", "x" * 10000,
           "<img src=x onerror=document.title='broken'>", "ünïcode 関数 \U0001f600"]


def flamewrite(form, recording, *options):
    """A recording (dict, text or bytes) in another form, as bytes."""
    done = run(form, recording, *options)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def run(form, recording, *options, **more):
    binary = pathlib.Path(os.environ.get("VIGIL", ROOT / "build/src/cli/vigil"))
    tool = binary.resolve().parents[2] / "tests/tool/flamewrite"
    if not tool.exists():
        tool = ROOT / "build/tests/tool/flamewrite"
    if not tool.exists():
        pytest.skip(f"{tool} is not built")
    if isinstance(recording, dict):
        recording = json.dumps(recording)
    if isinstance(recording, str):
        recording = recording.encode()
    more = {"stdout": subprocess.PIPE, **more}
    return subprocess.run([tool, form, *map(str, options)], input=recording, stderr=subprocess.PIPE, timeout=120, **more)


class Recording:
    """A tree built stack by stack, root first, in the JSON form."""

    def __init__(self, title="python train.py"):
        self.frames, self.nodes, self.lanes = [], [], []
        self.frame_ids, self.node_ids = {}, {}
        self.meta = {"samples": 0, "title": title, "node": "n1", "start_unix_ms": 1790000000000, "duration_ns": 5000 * MS,
                     "rate_hz": 100, "rate_got_hz": 99.2, "dropped": 3, "unproved": 7, "late": 2}

    def lane(self, pid, tid=None, **more):
        self.lanes.append({"pid": pid, "tid": tid or pid, "process": "python train.py", "thread": "MainThread", **more})
        self.nodes.append({"lane": len(self.lanes) - 1})
        return len(self.nodes) - 1

    def frame(self, kind, name, file="", line=0, module=""):
        key = (kind, name, file, line, module)
        if key not in self.frame_ids:
            self.frame_ids[key] = len(self.frames)
            self.frames.append({k: v for k, v in zip(("kind", "name", "file", "line", "module"), key) if v})
        return self.frame_ids[key]

    def add(self, lane, frames, count=1, state="running", gil=False):
        node = lane
        for frame in frames:
            if (node, frame) not in self.node_ids:
                self.node_ids[node, frame] = len(self.nodes)
                self.nodes.append({"parent": node, "frame": frame})
            node = self.node_ids[node, frame]
        n = self.nodes[node]
        for key, value in ((state, count), (state + "_ns", count * 10 * MS), ("gil_ns", count * 10 * MS if gil else 0)):
            if value:
                n[key] = n.get(key, 0) + value
        self.meta["samples"] += count

    def json(self):
        return {"schema": "vigil.flame/1", "meta": self.meta, "lanes": self.lanes, "frames": self.frames, "nodes": self.nodes}

    def stacks(self, states=("running",)):
        """[(lane, [frame ids, root first], ns)] of what was recorded."""
        found = []
        for i, node in enumerate(self.nodes):
            ns = sum(node.get(state + "_ns", 0) for state in states)
            path, at = [], i
            while "parent" in self.nodes[at]:
                path.append(self.nodes[at]["frame"])
                at = self.nodes[at]["parent"]
            if ns:
                found.append((self.nodes[at]["lane"], path[::-1], ns))
        return found

    def total(self, *states):
        return sum(ns for _, _, ns in self.stacks(states))


def training(hostile=False):
    """Two ranks and a loader; a function of which the share is known."""
    r = Recording()
    ranks = [r.lane(100 + i, rank=i, role="main") for i in range(2)]
    loader = r.lane(812, rank=1, role="loader")
    worker = r.lane(100, 107, rank=0, role="main", thread="pt_autograd_0")
    main, step = r.frame("python", "<module>", "/srv/job/train.py", 40), r.frame("python", "step", "/srv/job/train.py", 21)
    forward = r.frame("python", "Linear.forward", "/usr/lib/python3/dist-packages/torch/nn/modules/linear.py", 114)
    mm = r.frame("native", "at::native::mm(at::Tensor const&)", module="libtorch_cpu.so")
    lock, gil = r.frame("note", "[idle: lock]"), r.frame("note", "[waiting for the GIL]")
    collect = r.frame("note", "[garbage collection]")
    futex = r.frame("kernel", "futex_wait")
    for lane in ranks:
        r.add(lane, [main, step, forward, mm], 60)
        r.add(lane, [main, step, forward], 10, gil=True)
        r.add(lane, [main, step, collect], 5, gil=True)
        r.add(lane, [main, step], 25, gil=True)
        r.add(lane, [main, futex, lock], 40, "idle")
    r.add(loader, [main, r.frame("python", "load", "/srv/job/data.py", 9)], 50, gil=True)
    r.add(loader, [main, gil], 30, "gil_wait")
    r.add(worker, [mm], 20)
    if hostile:
        for name in HOSTILE:
            r.add(ranks[0], [main, r.frame("python", name, "/srv/" + name[:200] + ".py", 3), r.frame("native", name, module=name[:80])], 3)
    return r


def large(n_nodes, seed=1):
    """A tree of that many nodes, about as deep and as uneven as those of training jobs."""
    rand, r = random.Random(seed), Recording()
    lanes = [r.lane(100 + i, rank=i, role="main") for i in range(8)]
    frames = [r.frame("python", f"Block{i % 70}.forward_{i % 11}", f"/srv/job/model{i % 9}.py", i + 1) if i % 3 else
              r.frame("native", f"at::native::kernel_{i}(c10::Tensor const&)", module="libtorch_cpu.so") for i in range(600)]
    path = []
    while len(r.nodes) < n_nodes:
        path = path[:rand.randrange(len(path) + 1)]
        path += [rand.choice(frames) for _ in range(rand.randrange(1, 12))]
        path = path[:70]
        r.add(rand.choice(lanes[:1 + len(r.nodes) * 8 // n_nodes]), path, int(rand.paretovariate(1.3)))
    return r
