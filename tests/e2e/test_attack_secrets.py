"""A job whose names, lines and values are full of secrets: no report, page, stream, metric or notice shows one of them."""
import email.header
import email.parser
import json
import os
import signal
import socket
import time

import pytest

from conftest import wait_for
from notifykit import channels, server  # noqa: F401
from test_notify import smtp  # noqa: F401
from webkit import Server, Stream

SECRET = "S3CR99xyzab"
# As a program that gives itself its command line as a title would have it: fifteen bytes, readable by everybody.
JOB = f"""
import ctypes, os, sys, threading, time
name = lambda text: ctypes.CDLL(None).prctl(15, text.encode(), 0, 0, 0)
S = {SECRET[:4]!r} + {SECRET[4:]!r}
def thread():
    name("token=" + S[:9]), time.sleep(600)
threading.Thread(target=thread, daemon=True).start()
print("\\33[1mpassword\\33[0m=" + S, "https://bob:" + S + "@h/x?token=" + S)
print("\\33[1mhf_" + S + "abcdefghijkl\\33[0m", "os.environ['WANDB_API_KEY'] = '" + S + "'")
print("x" * 30 + " password=" + S + "y" * 1990)
print("-----BEGIN RSA PRIVATE KEY-----", *["MIIE" + S + "A" * 40] * int(sys.argv[1]), "-----END RSA PRIVATE KEY-----", sep="\\n", flush=True)
name("pw=" + S)
def connect(password):
    lock = threading.Lock()
    lock.acquire(), lock.acquire()
connect(S)
"""


def leaks(what, text):
    """The places of a text in which a part of the secret can be read."""
    text = text if isinstance(text, str) else text.decode(errors="replace")
    at = text.find(SECRET[:8])
    return [f"{what}: {text[max(0, at - 90):at + 40]!r}"] if at >= 0 else []


def live(vigil):
    """The first line of the job's live socket."""
    path = next(vigil.state.glob("jobs/*/live"))
    folder = os.open(path.parent, os.O_PATH)
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(20)
        s.connect(f"/proc/self/fd/{folder}/live")  # a socket's path has 108 bytes
        os.close(folder)
        return s.makefile("rb").readline()


def from_page(page, job):
    """What the page is told of a job, but for its own output."""
    routes = ["", "/ranks", "/processes?all=1", "/memory", "/events", "/incidents", f"/at?time={int(time.time() * 1000)}"]
    for route in routes:
        yield route, page.get(f"/api/v1/jobs/{job}{route}").body
    yield "metrics", page.get("/metrics").body
    stream = Stream(page, "?job=last")
    seen, until = {}, time.monotonic() + 10
    while {"ranks", "memory", "event"} - set(seen) and time.monotonic() < until:
        kind, data = stream.one()
        seen[kind] = seen.get(kind, "") + json.dumps(data)
    stream.close()
    yield from seen.items()


def test_nothing_that_leaves_vigil_has_a_secret_of_the_job(vigil, tmp_path, channels, server, smtp):  # noqa: F811
    script = tmp_path / "train.py"
    script.write_text(JOB)
    env = channels([{"name": "mail", "kind": "email", "url": smtp.url, "from": "v@example.org", "starttls": "never", "to": ["a@example.org"]},
                    {"name": "hook", "kind": "webhook", "url": server.url + "/hook"}])
    page = Server(vigil, "--otlp", server.url)
    run = vigil.start("run", "--name", f"password={SECRET}", "--hang-after", "3s", "--on-hang", "report", "--heap", "--",
                      "/usr/bin/python3", script, 25, "--password", SECRET, env=env)
    wait_for(lambda: b"\"hang\"" in vigil("events", "--json").out, 40, "the hang")
    job = json.loads(vigil("jobs", "--json").out)["id"]
    found = leaks("live", live(vigil))
    for where, text in from_page(page, job):
        found += leaks(where, text)
    for words in (["jobs", "--json"], ["ps", "--json", "--all"], ["why"], ["why", "--json"], ["events", "--json"], ["stack"], ["stack", "--json"],
                  ["waits", "--all"], ["mem"], ["heap", job], ["metrics"], ["timeline", "-o", "/dev/stdout"], ["report", "--html", "/dev/stdout"]):
        found += leaks(" ".join(words), vigil(*words).out)
    wait_for(lambda: smtp.messages and [p for p, *_ in server.got if p == "/hook"] and [p for p, *_ in server.got if p == "/v1/logs"], 60, "notices")
    run.send_signal(signal.SIGTERM)
    vigil.finish(run)
    for i, mail in enumerate(smtp.messages):
        parts = email.parser.BytesParser().parsebytes(mail.original_content)
        subject = str(email.header.make_header(email.header.decode_header(parts["Subject"])))
        found += leaks(f"mail {i}", subject + parts.get_payload(decode=True).decode())
    for path, _, body, _ in server.got:
        found += leaks(path, body)
    assert not found, "\n".join(found)


def test_a_page_of_a_report_has_no_line_of_a_key_that_began_before_what_it_shows(vigil, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(JOB.replace("connect(S)\n", "print('the last line')\n"))
    assert vigil("run", "--", "/usr/bin/python3", script, 60).status == 0
    page = vigil("report", "--html", "/dev/stdout").out.decode()
    assert "the last line" in page and not leaks("page", page)


KEY = f"MIIEpAIBAAKCAQEA3Tz2mr7SZiAMfQyuvBjM9Oi8{SECRET}aB3dE6gH1jK4"


@pytest.mark.parametrize("end", ["sys.exit(3)", "raise SystemExit(TEXT)", "os.abort()"])
def test_a_report_quotes_no_line_of_a_key(vigil, tmp_path, end):
    script = tmp_path / "train.py"
    text = f"no use for -----BEGIN PRIVATE KEY-----\n{KEY}\n{KEY}\n"
    script.write_text(f"import os, sys\nTEXT = {text!r}\nprint(TEXT, file=sys.stderr, flush=True)\n{end}\n")
    vigil("run", "--", "/usr/bin/python3", script)
    assert not leaks("told", vigil("why").out + vigil("events").out + vigil("report", "--html", "/dev/stdout").out)


@pytest.mark.parametrize("command", ["exit 4; echo --token {}", "printf password={}; exit 4", "sshpass -p {1} true; exit 4",
                                     "exit 4; curl -H 'Authorization: Bearer {.}' http://h/"])
def test_an_input_that_a_line_of_a_shell_takes_for_a_secret_is_not_shown(vigil, command):
    vigil("map", command, ":::", SECRET)
    vigil("map", "echo {} token", ":::", "shown")
    told = vigil("jobs", "--json").out + vigil("events").out + vigil("report", "--html", "/dev/stdout").out
    assert not leaks("told", told) and b"::: ***" in told and b"::: shown" in told
