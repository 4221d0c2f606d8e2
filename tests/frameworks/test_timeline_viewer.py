"""A real job's timeline in the viewer of chrome://tracing (catapult's, as torch-tb-profiler brings it along).

The viewer needs the custom elements that browsers had at its time: npm's webcomponents.js.

Perfetto's own reader is in no package of PyPI, npm or Debian; tests/e2e/test_timeline.py holds the format to its
document instead.
"""
import collections
import json
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from browser import Browser  # noqa: E402
from conftest import VENV  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]

IMPORT = """(() => {
  const model = new tr.Model(), options = new tr.importer.ImportOptions();
  options.showImportWarnings = false;
  new tr.importer.Import(model, options).importTraces([%s]);
  window.read = model;
  const processes = model.getAllProcesses().filter(p => p.name !== undefined).map(p => ({
    pid: p.pid, name: p.name,
    threads: Object.values(p.threads).map(t => ({tid: t.tid, name: t.name,
      slices: t.sliceGroup.slices.map(s => [s.title, s.category, s.start, s.duration])})),
    instants: p.instantEvents.map(i => i.title),
    counters: Object.values(p.counters).map(c => ({name: c.name, series: c.series.map(s => s.name),
      values: c.series.map(s => s.samples.map(x => x.value))}))}));
  return {processes, warnings: model.importWarnings.map(w => w.type + ": " + w.message),
          seconds: (model.bounds.max - model.bounds.min) / 1000, instants: model.instantEvents.map(i => i.title)};
})()"""


VIEW = """(() => {
  const container = document.createElement('track-view-container'), view = document.createElement('tr-ui-timeline-view');
  container.id = 'track_view_container';
  view.track_view_container = container;
  Polymer.dom(view).appendChild(container);
  view.globalMode = true;
  Polymer.dom(document.body).appendChild(view);
  view.model = window.read;
  window.view = view;
})()"""


@pytest.fixture
def page(tmp_path):
    viewer = sorted(VENV.parent.glob("lib/python3*/site-packages/torch_tb_profiler/static/trace_viewer_full.html"))
    elements = ROOT / ".cache/viewer/package/webcomponents.min.js"
    if not viewer or not elements.exists():
        pytest.skip("there is no trace viewer here; tools/setup frameworks gets torch-tb-profiler and webcomponents.js")
    head, tag, rest = viewer[0].read_text().partition("<head")
    attributes, _, rest = rest.partition(">")
    (tmp_path / "viewer.html").write_text(f"{head}{tag}{attributes}><script>window.__hideTraceViewerPolyfillWarning = true;"
                                          f"{elements.read_text()}</script>{rest}")
    browser = Browser(tmp_path)
    page = browser.open(tmp_path / "viewer.html")
    page.wait("typeof tr === 'object' && typeof Polymer === 'function'")
    yield page
    browser.close()


@pytest.fixture
def trace(vigil):
    script = "import os, time\nx = bytearray(64 << 20)\nend = time.monotonic() + 3\nwhile time.monotonic() < end: pass\n" \
             "os._exit(3 if os.environ['RESTART_COUNT'] == '0' and os.environ['RANK'] == '1' else 0)"
    job = vigil.start("run", "--name", "seen", "--nproc", 2, "--retries", 1, "--retry-on", "any", "--backoff", "10ms", "--",
                      "/usr/bin/python3", "-c", script)
    flame = vigil("flame", "seen", "-d", 0.5, "--format", "json", "-o", vigil.state / "x.json")
    assert vigil.finish(job).status == 0 and flame.status in (0, 4), flame
    result = vigil("timeline", "last", "-o", "-")
    assert result.status == 0, result
    return result.out.decode()


def test_the_viewer_reads_all_of_it_without_a_warning(page, trace):
    events = json.loads(trace)["traceEvents"]
    model = page.js(IMPORT % json.dumps(trace))
    assert model["warnings"] == []
    assert model["seconds"] >= 5, "two attempts of three seconds, of which the first may be cut short"

    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert {p["pid"]: p["name"] for p in model["processes"]} == names
    rows = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    seen = {(p["pid"], t["tid"]): t["name"] for p in model["processes"] for t in p["threads"]}
    # Rows whose only events are instants of the whole job are not drawn.
    used = {(e["pid"], e["tid"]) for e in events if e["ph"] == "X" or (e["ph"] == "i" and e["s"] == "t")}
    assert seen == {k: v for k, v in rows.items() if k in used}

    wanted = collections.Counter((e["pid"], e["tid"], e["name"], e["cat"]) for e in events if e["ph"] == "X")
    drawn = collections.Counter((p["pid"], t["tid"], s[0], s[1]) for p in model["processes"] for t in p["threads"]
                                for s in t["slices"])
    instants = collections.Counter(e["name"] for e in events if e["ph"] == "i")
    assert wanted and wanted - drawn == collections.Counter()
    assert sum((drawn - wanted).values()) <= sum(instants.values()), "instants of a thread are slices of no length"
    assert any("attempt" in name for _, _, name, _ in wanted), wanted

    counters = collections.Counter((e["pid"], e["name"]) for e in events if e["ph"] == "C")
    read = {(p["pid"], c["name"]): c for p in model["processes"] for c in p["counters"]}
    assert set(read) == set(counters)
    for key, counter in read.items():
        values = [e["args"] for e in events if e["ph"] == "C" and (e["pid"], e["name"]) == key]
        assert sorted(counter["series"]) == sorted({k for v in values for k in v})
        assert all(len(v) == len(values) for v in counter["values"]), (key, len(values))


def test_the_viewer_draws_it(page, trace):
    model = page.js(IMPORT % json.dumps(trace))
    page.js(VIEW)
    page.wait("document.querySelectorAll('tr-ui-timeline-track-view').length === 1")
    headings = "Array.prototype.slice.call(document.querySelectorAll('tr-ui-b-heading')).map(h => h.heading || '')"
    page.wait(f"({headings}).length > 3")
    drawn = page.js(headings)
    rows = [t["name"] for p in model["processes"] for t in p["threads"] if t["slices"]]
    assert rows and set(rows) <= set(drawn), (rows, drawn)
    counters = [c["name"] for p in model["processes"] for c in p["counters"]]
    assert {f"{name}: " for name in counters} <= set(drawn), (counters, drawn)
    assert page.complaints() == []
    if os.environ.get("VIGIL_SHOTS"):
        page.screenshot(pathlib.Path(os.environ["VIGIL_SHOTS"]) / "timeline_viewer.png")
