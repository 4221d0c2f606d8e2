"""`vigil report`: one page that holds all it shows, whatever the job prints and is called, and nothing half written."""
import html.parser
import json
import os
import stat
import sys

import pytest

MIB = 1 << 20
VOID = {"meta", "line", "polyline", "polygon"}
KNOWN = VOID | set("html head title style body header main footer section article h1 h2 h3 p dl dt dd ol li div table "
                   "caption thead tbody tr th td figure figcaption svg details summary pre".split())
# Fills memory until it is ended; says what would be markup, a terminal's code and a secret.
GROWS = r"""
import sys, time
print("</pre><script>alert(1)</script> \x1b[31m\x07 password=hunter2hunter", flush=True)
sys.stdout.buffer.write(b"no utf-8: \xff\xfe\n"); sys.stdout.flush()
kept = []
while True:
    kept.append(bytearray(b"x" * (4 << 20)))
    time.sleep(0.1)
"""


class Page(html.parser.HTMLParser):
    """A page, checked as it is read: known elements only, well nested, no script, no address, no handler."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.words, self.seen, self.csp = [], [], [], ""
        self.feed(text)
        self.close()
        assert not self.open, self.open
        self.text = " ".join(self.words)

    def handle_starttag(self, tag, attrs):
        assert tag in KNOWN, tag
        for name, value in attrs:
            assert not name.startswith("on") and name not in ("src", "href", "action", "style"), (tag, name, value)
        given = dict(attrs)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.csp = given["content"]
        if tag == "th":
            assert given["scope"] == "col"
        self.seen.append((tag, given))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        assert tag in VOID

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.open)

    def handle_data(self, data):
        if self.open[-1:] == ["style"]:
            assert "url(" not in data and "@import" not in data
        else:
            self.words.append(data)

    def handle_comment(self, data):
        raise AssertionError(data)

    def tags(self, tag):
        return [given for name, given in self.seen if name == tag]


@pytest.fixture
def job(vigil):
    """A job that was ended for memory, with a hostile command."""
    done = vigil("run", "--name", "grow", "--memory-limit", "150M", "--", sys.executable, "-c", GROWS,
                 "<img src=x onerror=alert(2)>", "--api-key", "sk-verysecret12345")
    assert done.status == 137, done
    return vigil.why()["job"]


def test_a_page_says_what_why_says_and_loads_nothing(vigil, job, tmp_path):
    file = tmp_path / "page.html"
    file.write_text("an older page, for all to read")
    file.chmod(0o644)
    told = vigil("report", "--html", file)
    assert told.status == 0 and told.out == b"", told
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and os.listdir(tmp_path).count("page.html") == 1
    assert not [f for f in os.listdir(tmp_path) if f.startswith("page.html.")], "no temporary file is left"
    page, why = Page(file.read_text(encoding="utf-8", errors="strict")), vigil.why()
    assert page.csp.startswith("default-src 'none';") and "script-src" not in page.csp
    assert why["summary"] in page.text and why["cause"]["text"] in page.text
    assert all(advice in page.text for advice in why["cause"]["advice"])
    assert "Health failed" in " ".join(page.text.split()) and "ended by vigil for memory (SIGKILL); the verdict names it" in page.text and "memory_kill" in page.text
    assert page.tags("svg") and [x for x in page.tags("line") if x["class"] == "limit"]
    assert "</pre><script>alert(1)</script>" in page.text and "<img src=x onerror=alert(2)>" in page.text
    assert "hunter2hunter" not in page.text and "sk-verysecret12345" not in page.text
    assert not set(map(chr, [*range(9), 11, 12, *range(14, 32), 127])) & set(page.text)


def test_the_object_has_the_job_its_incidents_and_processes(vigil, job):
    report = vigil("report", job, "--json").json()
    why = vigil.why()
    assert report["schema"] == "vigil.report/1" and report["job"]["id"] == job
    assert report["verdict"]["text"] == why["summary"] and report["verdict"]["incident"]["id"] == why["id"]
    assert [i["id"] for i in report["incidents"]] == [why["id"]]
    assert [p["signal"] for p in report["processes"] if p.get("role") == "main"] == [9]
    assert report["memory"]["limit_bytes"] == 150 * MIB and len(report["memory"]["samples"]) >= 2
    assert {e["severity"] for e in report["events"]} >= {"info", "error"}
    assert "sk-verysecret12345" not in json.dumps(report)


def test_what_is_not_there_or_cannot_be_written_is_one_sentence(vigil, tmp_path):
    assert vigil("run", "--name", "well", "--", "true").status == 0
    absent = vigil("report", "nosuchjob", "--html", tmp_path / "a.html")
    assert absent.status == 4 and absent.text.count("\n") == 1 and "nosuchjob" in absent.text, absent
    assert not (tmp_path / "a.html").exists()
    lost = vigil("report", "--html", tmp_path / "nowhere/a.html")
    assert lost.status == 1 and lost.text.count("\n") == 1 and "nowhere/a.html: No such file or directory" in lost.text, lost
    assert vigil("report", "--json", "--html", "-").status == 2
    page = Page(vigil("report", "--html", "-").out.decode())
    assert vigil.why()["summary"] in page.text and "ended well" in page.text and "There was none." in page.text


# 40 ranks with 60 lines of output each; rank 37 fails while the others go on.
PRINTS = ("i=0; while [ $i -lt 60 ]; do echo line $i of rank $RANK; i=$((i + 1)); done; "
          "[ $RANK = 37 ] && sleep 3 && exit 3; exec sleep 100")
def page_text(vigil):
    return " ".join(Page(vigil("report", "--html", "-").out.decode()).text.split())


def test_output_that_is_left_out_of_a_report_is_told(vigil):
    done = vigil("run", "--name", "prints", "--nproc", 40, "--", "sh", "-c", PRINTS, timeout=180)
    assert done.status == 3, done
    report = vigil("report", "--json").json()
    files = [f for f in (vigil.state / "jobs" / report["job"]["id"] / "attempt-0").glob("rank-*") if f.stat().st_size]
    assert len(report["output"]) == 32 and report["output_left_out"] == len(files) - 32 >= 8
    first = report["output"][0]
    assert first["rank"] == 37, "whom the verdict names comes first"
    assert first["lines"] == [f"line {i} of rank 37" for i in range(20, 60)]
    assert first["earlier_bytes"] == sum(len(f"line {i} of rank 37\n") for i in range(20)) == 370
    text = page_text(vigil)
    assert "Of 32 files, those of the ranks that the verdict names first; " \
           f"{len(files) - 32} more are left out." in text
    assert "stdout; 370 B before it are left out" in text


def test_the_table_of_processes_has_an_end(vigil):
    done = vigil("run", "--name", "crowd", "--nproc", 60, "--retries", 4, "--retry-on", "any", "--backoff", "10ms", "--",
                 "sh", "-c", "[ $RANK = 57 ] && sleep 1 && exit 3; exec sleep 100", timeout=180)
    assert done.status == 3, done
    report = vigil("report", "--json").json()
    assert len(report["processes"]) == 200 and report["processes_left_out"] == 5 * 60 - 200
    failed = [p["attempt"] for p in report["processes"] if p["rank"] == 57]
    assert failed == [0, 1, 2, 3, 4], "whom the verdict names is in it, however late it stands"
    assert "200 of 300: those that the verdict names" in page_text(vigil)


def test_a_report_of_a_small_job_leaves_nothing_out(vigil):
    assert vigil("run", "--name", "small", "--nproc", 2, "--", "echo", "hello").status == 0
    report = vigil("report", "--json").json()
    assert not [k for k in report if k.endswith("_left_out")] and "earlier_bytes" not in report["output"][0]
    assert "left out" not in Page(vigil("report", "--html", "-").out.decode()).text


def test_an_attempt_has_its_end(vigil, tmp_path):
    assert vigil("run", "--name", "twice", "--retries", "1", "--retry-on", "crash", "--backoff", "0", "--", "sh", "-c",
                 "sleep 0.2; kill -SEGV $$").status == 128 + 11
    attempts = json.loads(vigil("report", "twice", "--json").out)["attempts"]
    assert [a["attempt"] for a in attempts] == [0, 1]
    assert all(a["ended_unix_ms"] > a["began_unix_ms"] for a in attempts), attempts
    assert attempts[0]["ended_unix_ms"] <= attempts[1]["began_unix_ms"]
    page = tmp_path / "page.html"
    assert vigil("report", "twice", "--html", page).status == 0
    text = Page(page.read_text()).text
    assert "Ran for" in text and "Ended" in text
    shown = vigil("show", "twice").out.decode()
    assert "1 of at most 1" in shown
    vigil("run", "--name", "once", "--", "true")
    assert "of at most 0" not in vigil("show", "once").out.decode()
