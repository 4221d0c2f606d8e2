"""The forms in which recordings of stacks are written, read by other readers than ours."""
import base64
import gzip
import hashlib
import html.parser
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET

import flamekit
import pytest

SVG = "{http://www.w3.org/2000/svg}"
FORMS = ["svg", "html", "folded", "speedscope", "pprof", "json"]


@pytest.fixture(scope="module")
def hostile():
    return flamekit.training(hostile=True)


@pytest.mark.parametrize("form", FORMS)
def test_equal_recordings_give_equal_bytes(form, hostile):
    assert flamekit.flamewrite(form, hostile.json()) == flamekit.flamewrite(form, hostile.json())


@pytest.mark.parametrize("form", FORMS)
def test_a_full_disk_is_said_and_fails(form, hostile):
    with open("/dev/full", "wb") as full:
        done = flamekit.run(form, hostile.json(), stdout=full)
    assert done.returncode == 1 and b"No space left on device" in done.stderr


def test_folded_lines_have_the_promised_form(hostile):
    text = flamekit.flamewrite("folded", hostile.json(), "--view").decode()
    lines = text.splitlines()
    for line in lines:
        assert re.fullmatch(r"[^;\x00-\x1f]+(;[^;\x00-\x1f]+)* [1-9]\d*", line)
    assert "<module> (train.py:40);step (train.py:21);Linear.forward (torch/nn/modules/linear.py:114) 20" in lines
    assert any(line.endswith("at::native::mm(at::Tensor const&) [libtorch_cpu.so] 120") for line in lines)
    assert sum(int(line.rsplit(" ", 1)[1]) for line in lines) * 10 * flamekit.MS == hostile.total("running")


def test_folded_text_and_json_come_back_as_they_were(hostile):
    recorded = flamekit.flamewrite("json", hostile.json())
    assert flamekit.flamewrite("json", recorded) == recorded
    folded = flamekit.flamewrite("folded", hostile.json(), "--view", "--idle")
    assert flamekit.flamewrite("folded", folded) == folded


def test_json_keeps_every_stack_and_its_time(hostile):
    back = json.loads(flamekit.flamewrite("json", hostile.json()))
    assert back["schema"] == "vigil.flame/1"
    assert back["meta"]["dropped"] == 3 and back["meta"]["title"] == "python train.py"
    again = flamekit.Recording()
    again.nodes = back["nodes"]
    for states in (["running"], ["idle"], ["gil_wait"]):
        assert sorted(again.stacks(states)) == sorted(hostile.stacks(states))


def test_views_set_ranks_apart(hostile):
    text = flamekit.flamewrite("folded", hostile.json(), "--view", "--rank-lanes", "--idle").decode()
    first = {line.split(";")[0] for line in text.splitlines()}
    assert first == {"rank 0", "rank 1", "rank 1 loader 812"}


def test_what_only_waits_is_shown_waiting():
    r = flamekit.Recording()
    r.add(r.lane(5), [r.frame("note", "[idle: lock]")], 4, "idle")
    done = flamekit.run("folded", r.json(), "--view")
    assert done.stdout == b"[idle: lock] 4\n" and b"nothing ran" in done.stderr


def test_speedscope_files_follow_the_published_schema(hostile):
    doc = json.loads(flamekit.flamewrite("speedscope", hostile.json()))
    assert doc["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert set(doc) <= {"$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"}
    frames = doc["shared"]["frames"]
    for frame in frames:
        assert isinstance(frame["name"], str) and set(frame) <= {"name", "file", "line", "col"}
        assert isinstance(frame.get("file", ""), str) and isinstance(frame.get("line", 1), int)
    assert len(doc["profiles"]) == len(hostile.lanes)
    states = ("running", "idle", "gil_wait")
    for lane, profile in enumerate(doc["profiles"]):
        assert profile["type"] == "sampled" and isinstance(profile["name"], str)
        assert profile["unit"] in ("none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes")
        assert len(profile["samples"]) == len(profile["weights"])
        assert all(0 <= i < len(frames) for sample in profile["samples"] for i in sample)
        assert profile["startValue"] == 0 and profile["endValue"] == sum(profile["weights"])
        expected = sorted((path, ns) for at, path, ns in hostile.stacks(states) if at == lane)
        assert sorted(zip(profile["samples"], profile["weights"])) == expected
    full = {f.get("file") for f in frames}
    assert "/usr/lib/python3/dist-packages/torch/nn/modules/linear.py" in full  # the whole path is kept here


# A reader of protocol buffers: just what profile.proto needs.
def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """{field number: [value or bytes]}"""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            assert key & 7 == 2, f"wire type {key & 7}"
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        found.setdefault(key >> 3, []).append(value)
    return found


def packed(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def test_pprof_profiles_hold_every_stack_leaf_first(hostile):
    profile = fields(gzip.decompress(flamekit.flamewrite("pprof", hostile.json())))
    texts = [t.decode() for t in profile[6]]
    assert texts[0] == ""

    def one(message, number):
        return message.get(number, [0])[0]

    types = [[texts[one(fields(t), n)] for n in (1, 2)] for t in profile[1]]
    assert types == [["samples", "count"], ["wall", "nanoseconds"]] and texts[one(profile, 14)] == "wall"
    functions = {one(f, 1): (texts[one(f, 2)], texts[one(f, 4)]) for f in map(fields, profile[5])}
    mappings = {one(m, 1): texts[one(m, 5)] for m in map(fields, profile[3])}
    locations = {}
    for location in map(fields, profile[4]):
        line = fields(location[4][0])
        locations[one(location, 1)] = (*functions[one(line, 1)], one(line, 2))
        assert one(location, 2) == 0 or one(location, 2) in mappings
    assert 0 not in functions and 0 not in locations and "libtorch_cpu.so" in mappings.values()
    got = []
    for sample in map(fields, profile[2]):
        labels = {texts[one(label, 1)]: texts[one(label, 2)] if 2 in label else one(label, 3)
                  for label in map(fields, sample[3])}
        path = [locations[i] for i in packed(sample[1][0])][::-1]
        got.append((labels["tid"], labels["state"], [p[0] for p in path], packed(sample[2][0])[1]))
    expected = []
    for state, words in (("running", "running"), ("idle", "idle"), ("gil_wait", "waiting for the GIL")):
        for lane, path, ns in hostile.stacks([state]):
            expected.append((hostile.lanes[lane]["tid"], words, [hostile.frames[f]["name"] for f in path], ns))
    assert sorted(got) == sorted(expected)
    assert ("Linear.forward", "/usr/lib/python3/dist-packages/torch/nn/modules/linear.py", 114) in locations.values()
    assert profile[10] == [5000 * flamekit.MS] and profile[12] == [10 * flamekit.MS]


def test_gos_pprof_reads_the_profile(hostile, tmp_path):
    go = shutil.which("go")
    if not go:
        pytest.skip("go is not installed: its pprof cannot be asked")
    file = tmp_path / "profile.pb.gz"
    file.write_bytes(flamekit.flamewrite("pprof", hostile.json()))
    env = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "", "PPROF_TMPDIR": str(tmp_path)}
    try:  # newer ones compile it at the first use
        found = subprocess.run([go, "tool", "-n", "pprof"], capture_output=True, env=env, timeout=200)
    except subprocess.TimeoutExpired:
        pytest.skip("go did not get its pprof compiled in 200 s")
    if found.returncode:
        pytest.skip("this go has no pprof")
    done = subprocess.run([go, "tool", "pprof", "-symbolize=none", "-raw", file], capture_output=True, text=True,
                          timeout=100, env=env)
    assert done.returncode == 0, done.stderr
    assert "samples/count wall/nanoseconds[dflt]" in done.stdout and "Duration: 5s" in done.stdout
    values = re.findall(r"^\s+(\d+)\s+(\d+): [\d ]+$", done.stdout, re.M)
    assert sum(int(ns) for _, ns in values) == hostile.total("running", "idle", "gil_wait")


def boxes(svg):
    """[(name, weight, x, y, width)] of a picture."""
    found = []
    for g in svg.find(f".//{SVG}g[@id='boxes']"):
        name, weight = g.find(SVG + "title").text.split("\n")
        rect = g.find(SVG + "rect")
        found.append((name, weight, *(float(rect.get(key)) for key in ("x", "y", "width"))))
    return found


def test_svg_is_well_formed_whatever_names_hold(hostile):
    svg = ET.fromstring(flamekit.flamewrite("svg", hostile.json(), "--view", "--rank-lanes"))
    drawn = boxes(svg)
    names = [box[0] for box in drawn]
    assert sum(name.startswith("<script>alert(1)</script>") for name in names) == 2
    assert any(name.startswith("ünïcode 関数 \U0001f600") for name in names)
    assert len(svg.findall(f".//{SVG}script")) == 1
    for element in svg.iter():
        assert not [a for a in element.attrib if a.lower().startswith("on") or a.endswith("href")]
    assert max(map(len, names)) <= 2001
    losses = svg.find(f".//{SVG}text[@id='losses']").text
    assert "3 dropped" in losses and "99.2 of 100 Hz" in losses


def test_svg_boxes_lie_within_what_calls_them(hostile):
    drawn = boxes(ET.fromstring(flamekit.flamewrite("svg", hostile.json(), "--view")))
    root = drawn[0]
    assert root[0] == "all" and root[4] == 1180
    rows = {}
    for _, _, x, y, width in drawn:
        rows.setdefault(y, []).append((x, x + width))
    below = None
    for y in sorted(rows, reverse=True):  # the root is at the bottom
        row = sorted(rows[y])
        assert all(a[1] <= b[0] + 0.02 for a, b in zip(row, row[1:])), "boxes of one row overlap"
        if below:
            assert all(any(f - 0.02 <= x and end <= t + 0.02 for f, t in below) for x, end in row)
        below = row
    share = sum(b[4] for b in drawn if b[0].startswith("Linear.forward ")) / 1180
    assert abs(share - 140 * 10 * flamekit.MS / hostile.total("running")) < 0.001


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.scripts, self.styles, self.policy, self.inside = [], [], None, None
        self.links = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.links += [v for k, v in attrs.items() if k in ("src", "href", "action") or k.startswith("on")]
        if attrs.get("http-equiv") == "Content-Security-Policy":
            self.policy = attrs["content"]
        if tag in ("script", "style"):
            self.inside = (tag, attrs)
            (self.scripts if tag == "script" else self.styles).append([attrs, ""])

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside:
            (self.scripts if self.inside[0] == "script" else self.styles)[-1][1] += data


@pytest.mark.parametrize("kind", ["recording", "difference"])
def test_html_allows_its_own_script_and_nothing_else(kind, hostile, tmp_path):
    other = tmp_path / "other.json"
    other.write_text(json.dumps(flamekit.training(hostile=True).json()))
    options = ["--diff", other] if kind == "difference" else []
    page = Page(flamekit.flamewrite("html", hostile.json(), *options).decode())
    assert not page.links
    (data, data_text), (script, script_text) = page.scripts
    assert data == {"type": "application/json", "id": "data"} and script == {}

    def digest(text):
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    rules = dict(rule.strip().split(" ", 1) for rule in page.policy.split(";"))
    assert rules["default-src"] == "'none'" and rules["script-src"] == digest(script_text)
    assert rules["style-src"] == digest(page.styles[0][1])
    values = json.loads(data_text)
    assert len(values["parent"]) == len(values["frame"])
    names = {values["texts"][f[0]] for f in values["frames"]}
    assert set(flamekit.HOSTILE) <= names
    if kind == "recording":
        assert sum(values["running"]) == hostile.total("running")


def test_a_difference_has_both_sides(tmp_path):
    a, b = flamekit.training(), flamekit.training()
    b.add(0, [b.frame("python", "slow_new_thing", "/srv/job/train.py", 77)], 100)
    other = tmp_path / "b.json"
    other.write_text(json.dumps(b.json()))
    doc = json.loads(flamekit.flamewrite("json", a.json(), "--diff", other))
    assert doc["schema"] == "vigil.flame_diff/1"
    states = ("running", "idle", "gil_wait")
    assert sum(n.get("a_ns", 0) for n in doc["nodes"]) == a.total(*states)
    assert sum(n.get("b_ns", 0) for n in doc["nodes"]) == b.total(*states)
    folded = flamekit.flamewrite("folded", a.json(), "--diff", other).decode().splitlines()
    assert "slow_new_thing (train.py:77) 0 100" in folded
    drawn = ET.fromstring(flamekit.flamewrite("svg", a.json(), "--diff", other))
    new = [g for g in drawn.find(f".//{SVG}g[@id='boxes']") if g.find(SVG + "title").text.startswith("slow_new_thing")]
    assert new[0].find(SVG + "rect").get("fill") == "#f55050"
    for form in ("speedscope", "pprof"):
        assert flamekit.run(form, a.json(), "--diff", other).returncode == 1
