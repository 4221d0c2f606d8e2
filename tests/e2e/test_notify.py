"""Notices: real servers get them, bad servers hold nothing up, nothing is lost that need not be."""
import base64
import contextlib
import email.header
import email.parser
import hashlib
import hmac
import json
import os
import shutil
import signal
import ssl
import subprocess
import time
import urllib.parse
import urllib.request

import psutil
import pytest

from conftest import wait_for, workload
from notifykit import CRASH, Server, channels, free_port, server, spool_of, waiting_files # noqa: F401 (fixtures)


def deliverers(vigil):
    found = []
    for process in vigil.strays():
        try:
            if "deliver" in process.cmdline():
                found.append(process.pid)
        except psutil.NoSuchProcess:
            pass
    return found


@pytest.fixture(autouse=True)
def no_deliverer_is_left(vigil):
    yield
    for pid in deliverers(vigil):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    wait_for(lambda: not deliverers(vigil), 10, "deliverers to be gone")


def test_a_crash_is_told_signed_and_once(vigil, server, channels, tmp_path):
    (tmp_path / "key").write_text("k\u00e9y\n")
    env = channels([{"name": "ops", "kind": "webhook", "url": server.url + "/hook/token", "secret-file": str(tmp_path / "key"),
                     "link": "https://dash/{job}"}])
    result = vigil("run", "--name", "train", "--", *CRASH, env=env)
    assert result.status == 139, result
    wait_for(lambda: server.got, 20, "the notice")
    path, headers, body, _ = server.got[0]
    notice = json.loads(body)
    assert path == "/hook/token"
    assert notice["schema"] == "vigil.notice/1" and notice["kind"] == "crash" and notice["state"] == "firing"
    assert notice["link"] == "https://dash/" + notice["job"] and notice["command"] == f"vigil why {notice['id']}"
    assert vigil.why()["id"] == notice["id"] == headers["X-Vigil-Event-Id"]
    stamp = headers["X-Vigil-Timestamp"]
    assert abs(int(stamp) - time.time()) < 60
    mac = hmac.new("k\u00e9y".encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    assert headers["X-Vigil-Signature"] == "sha256=" + mac
    wait_for(lambda: not waiting_files(vigil) and not deliverers(vigil), 10, "the spool to be empty")
    assert len(server.got) == 1


def test_a_job_that_recovers_is_taken_back(vigil, server, channels, tmp_path):
    env = channels([{"name": "ops", "kind": "webhook", "url": server.url}])
    script = f"test -e {tmp_path}/again && exit 0; touch {tmp_path}/again; kill -SEGV $$"
    result = vigil("run", "--retries", 1, "--retry-on", "any", "--backoff", "10ms", "--", "sh", "-c", script, env=env)
    assert result.status == 0, result
    wait_for(lambda: len(server.got) == 2, 20, "both notices")
    first, second = server.bodies()
    assert (first["state"], first["severity"]) == ("firing", "warning")
    assert second["state"] == "resolved" and second["key"] == first["key"]


def test_choosing_channels(vigil, server, channels):
    env = channels([{"name": "always", "kind": "webhook", "url": server.url + "/always"},
                    {"name": "asked", "kind": "webhook", "url": server.url + "/asked", "default": False},
                    {"name": "memory", "kind": "webhook", "url": server.url + "/memory", "incidents": ["memory_kill"]},
                    {"name": "worst", "kind": "webhook", "url": server.url + "/worst", "severity": "critical"}])
    assert vigil("run", "--", *CRASH, env=env).status == 139
    wait_for(lambda: server.got and not deliverers(vigil), 20, "the notice")
    assert [path for path, *_ in server.got] == ["/always"]
    assert vigil("run", "--notify", "asked,always", "--", *CRASH, env=env).status == 139
    wait_for(lambda: len(server.got) == 3 and not deliverers(vigil), 20, "two more")
    assert sorted(path for path, *_ in server.got[1:]) == ["/always", "/asked"]
    assert vigil("run", "--notify", "none", "--", *CRASH, env=env).status == 139
    assert not waiting_files(vigil) and len(server.got) == 3
    result = vigil("run", "--notify", "alway", "--", "true", env=env)
    assert result.status == 125 and "did you mean 'always'?" in result.text


def test_a_job_without_channels_starts_no_process_and_loads_no_library(vigil, channels):
    env = channels([{"name": "ops", "kind": "webhook", "url": "http://127.0.0.1:9"}])
    trace = subprocess.run(["strace", "-f", "-e", "trace=openat,execve", str(vigil.binary), "run", "-q", "--", "true"],
                           env=vigil.environment(env), capture_output=True, text=True) if shutil.which("strace") else None
    if trace is None or "ptrace" in trace.stderr[:200]:
        pytest.skip("strace cannot be used here")
    assert "libcurl" not in trace.stderr and '"deliver"' not in trace.stderr
    assert not (vigil.state / "notify").exists()


@pytest.mark.parametrize("trouble", ["hang", "drip", "close", "half", 500])
def test_a_bad_server_holds_nothing_up(vigil, server, channels, trouble):
    server.behave = lambda number: trouble
    env = channels([{"name": "bad", "kind": "webhook", "url": server.url + "/secret-token", "timeout": "700ms"},
                    {"name": "good", "kind": "exec", "argv": ["sh", "-c", "cat > $HOME/good"]}])
    env["HOME"] = vigil.state.parent
    def seconds(*options):
        begun = time.monotonic()
        result = vigil("run", *options, "--", *CRASH, env=env)
        assert result.status == 139, result
        return time.monotonic() - begun
    # the quickest of three each: the machine has other things to do as well
    bad_s, plain_s = (min(seconds(*options) for _ in range(3)) for options in ((), ("--notify", "none")))
    assert bad_s < plain_s + 1, f"{bad_s} s against {plain_s} s"
    wait_for(lambda: (vigil.state.parent / "good").exists(), 20, "the other channel, which is well")
    wait_for(lambda: spool_of(vigil, env)["bad"].get("fails", 0) >= 2, 20, "a second try")
    item = spool_of(vigil, env)["bad"]
    assert item["waiting"] == 3 and item["trouble"] and "secret-token" not in json.dumps(item)
    server.release.set()
    server.behave = lambda number: 200
    wait_for(lambda: spool_of(vigil, env)["bad"]["waiting"] == 0, 30, "delivery when the server is well again")


def test_retry_after_is_honoured(vigil, server, channels):
    server.behave = lambda number: (429, {"Retry-After": "3"}, b"slow down") if number == 1 else 200
    env = channels([{"name": "ops", "kind": "slack", "url": server.url}])
    vigil("run", "--", *CRASH, env=env)
    wait_for(lambda: len(server.got) == 2, 20, "the second try")
    assert server.got[1][3] - server.got[0][3] >= 2.9


def test_what_is_refused_is_not_tried_again(vigil, server, channels):
    server.behave = lambda number: (404, {}, b"no_such_hook")
    env = channels([{"name": "ops", "kind": "slack", "url": server.url}])
    vigil("run", "--", *CRASH, env=env)
    wait_for(lambda: spool_of(vigil, env)["ops"]["rejected"] == 1, 20, "the refusal")
    item = spool_of(vigil, env)["ops"]
    assert item["waiting"] == 0 and item["trouble"] == "the server answered 404: no_such_hook"
    assert len(server.got) == 1


def test_redirects_are_not_followed(vigil, server, channels):
    server.behave = lambda number: (302, {"Location": "file:///etc/passwd"}, b"")
    env = channels([{"name": "ops", "kind": "webhook", "url": server.url}])
    result = vigil("notify", "test", "ops", env=env)
    assert result.status == 5 and "302, a redirect" in result.text
    server.behave = lambda number: (307, {"Location": server.url + "/elsewhere"}, b"")
    assert vigil("notify", "test", "ops", env=env).status == 5
    assert [path for path, *_ in server.got] == ["/", "/"]


def test_huge_answers_are_cut(vigil, server, channels):
    server.behave = lambda number: (200, {}, b"z" * 50_000_000)
    env = channels([{"name": "ops", "kind": "webhook", "url": server.url}])
    result = vigil("notify", "test", "ops", env=env)
    assert result.status == 0, result


def certificate(folder):
    """(certificate, key) for 127.0.0.1, signed by nobody."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
                   check=True, capture_output=True)
    return folder / "cert.pem", folder / "key.pem"


def test_a_certificate_of_nobody_is_refused(vigil, channels, tmp_path):
    s = Server()
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate(tmp_path))
        s.httpd.socket = context.wrap_socket(s.httpd.socket, server_side=True)
        url = s.url.replace("http:", "https:")
        env = channels([{"name": "strict", "kind": "webhook", "url": url},
                        {"name": "known", "kind": "webhook", "url": url, "ca-file": str(tmp_path / "cert.pem")},
                        {"name": "loose", "kind": "webhook", "url": url, "tls-verify": False}])
        result = vigil("notify", "test", "strict", env=env)
        assert result.status == 5 and "certificate" in result.text and not s.got
        assert vigil("notify", "test", "known", env=env).status == 0
        assert vigil("notify", "test", "loose", env=env).status == 0
    finally:
        s.stop()


def test_services_that_answer_200_to_everything(vigil, server, channels, tmp_path):
    (tmp_path / "key").write_text("SEC")
    server.behave = lambda number: (200, {}, json.dumps({"errcode": 310000, "errmsg": "sign not match"}).encode())
    env = channels([{"name": "ding", "kind": "dingtalk", "url": server.url + "/robot/send?access_token=T",
                     "secret-file": str(tmp_path / "key")}])
    result = vigil("notify", "test", "ding", env=env)
    assert result.status == 5 and "310000, sign not match" in result.text and "access_token" not in result.text
    query = urllib.parse.parse_qs(urllib.parse.urlparse(server.got[0][0]).query)
    mac = hmac.new(b"SEC", f"{query['timestamp'][0]}\nSEC".encode(), hashlib.sha256).digest()
    assert query["sign"] == [base64.b64encode(mac).decode()] and query["access_token"] == ["T"]
    server.behave = lambda number: (200, {}, b'{"errcode":0,"errmsg":"ok"}')
    assert vigil("notify", "test", "ding", env=env).status == 0


def test_a_killed_vigil_loses_nothing(vigil, server, channels):
    """Nothing answers; the deliverer and the supervisor are killed; the next vigil delivers."""
    port = free_port()
    env = channels([{"name": "ops", "kind": "webhook", "url": f"http://127.0.0.1:{port}", "timeout": "500ms"}])
    vigil("run", "--", *CRASH, env=env)
    wait_for(lambda: spool_of(vigil, env)["ops"].get("fails"), 20, "a first try")
    for pid in deliverers(vigil):
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not deliverers(vigil), 10, "the deliverer to be gone")
    assert len(waiting_files(vigil)) == 1
    result = vigil("notify", "flush", env=env)
    assert result.status == 5 and b"1 notice left" in result.out
    env = channels([{"name": "ops", "kind": "webhook", "url": server.url}])
    result = vigil("notify", "flush", env=env)
    assert result.status == 0 and b"1 message delivered, 0 notices left" in result.out
    assert server.bodies()[0]["kind"] == "crash" and not waiting_files(vigil)


def test_the_next_vigil_delivers_what_the_last_could_not(vigil, server, channels):
    env = channels([{"name": "ops", "kind": "webhook", "url": f"http://127.0.0.1:{free_port()}"}])
    vigil("run", "--", *CRASH, env=env)
    wait_for(lambda: spool_of(vigil, env)["ops"].get("fails"), 20, "a first try")
    for pid in deliverers(vigil):
        os.kill(pid, signal.SIGKILL)
    state = vigil.state / "notify/channel-ops.json"
    known = json.loads(state.read_text())
    known["retry_unix_ms"] = 0 # its rest is over
    state.write_text(json.dumps(known))
    wait_for(lambda: not deliverers(vigil), 10, "the deliverer to be gone")
    env = channels([{"name": "ops", "kind": "webhook", "url": server.url}])
    assert vigil("run", "--", "sh", "-c", "sleep 0.5", env=env).status == 0
    wait_for(lambda: server.got, 20, "the notice of the job before")


def test_a_supervisor_that_is_killed_is_told_of(vigil, server, channels):
    env = channels([{"name": "ops", "kind": "webhook", "url": server.url}])
    process = vigil.start("run", "--", "sleep", "100", env=env)
    wait_for(lambda: [c for c in psutil.Process(process.pid).children() if c.name() == "sleep"], 20, "the job")
    process.send_signal(signal.SIGKILL)
    wait_for(lambda: server.got, 30, "the guard's notice")
    assert server.bodies()[0]["kind"] == "killed_by" and "vigil itself" in server.bodies()[0]["title"]


def test_the_last_words_of_a_container_arrive(vigil, server, channels):
    """When the first process of a container ends, the kernel ends all others at once."""
    box = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
    if subprocess.run([*box, "true"], capture_output=True).returncode:
        pytest.skip("no PID namespace of its own here")
    server.behave = lambda number: time.sleep(0.2) or 200
    env = channels([{"name": "ops", "kind": "webhook", "url": server.url}])
    assert vigil("run", "--", *CRASH, env=env, prefix=box).status == 139
    assert len(server.got) == 1 and not waiting_files(vigil)


def test_the_deliverer_is_not_taken_for_a_process_of_the_job(vigil, server, channels, tmp_path):
    """It lives on while the job starts again and ends; the job's end does not wait for it."""
    server.behave = lambda number: "hang"
    env = channels([{"name": "ops", "kind": "webhook", "url": server.url, "timeout": "30s"}])
    script = f"test -e {tmp_path}/again && exec sleep 1; touch {tmp_path}/again; kill -SEGV $$"
    begun = time.monotonic()
    result = vigil("run", "--retries", 1, "--retry-on", "any", "--backoff", "10ms", "--", "sh", "-c", script, env=env)
    assert result.status == 0, result
    assert time.monotonic() - begun < 15 and "still run" not in result.text
    assert deliverers(vigil)
    rows = [json.loads(line) for line in vigil("ps", "last", "--json", env=env).out.splitlines()]
    assert not [r for r in rows if "notify" in r.get("command", "")], rows


def test_a_full_disk_costs_the_notice_but_not_the_job(vigil, server, channels, tiny_disk):
    vigil.state = tiny_disk(64)
    fd = os.open(vigil.state / "filler", os.O_CREAT | os.O_WRONLY)
    try:
        while os.write(fd, b"x" * 4096):
            pass
    except OSError:
        os.close(fd)
    env = channels([{"name": "ops", "kind": "webhook", "url": server.url}])
    result = vigil("run", "--", *CRASH, env=env)
    assert result.status == 139, result
    assert "it will not be sent" in result.text
    assert "crashed with SIGSEGV" in result.text


def test_rubbish_in_the_spool_is_dropped(vigil, server, channels):
    env = channels([{"name": "ops", "kind": "webhook", "url": server.url}])
    spool = vigil.state / "notify"
    spool.mkdir(parents=True)
    now = int(time.time() * 1000)
    (spool / f"n-{now:014d}-1-1-ops.json").write_bytes(b"\0\xff{")
    (spool / f"n-{now:014d}-1-2-ops.json").write_text('{"schema": "vigil.notice/1"}')
    (spool / f"n-{now - 90000000:014d}-1-3-ops.json").write_text("{}")
    (spool / f"n-{now:014d}-1-4-gone.json").write_text("{}")
    (spool / "channel-ops.json").write_bytes(b"[[[[")
    result = vigil("notify", "flush", env=env)
    assert result.status == 0, result
    assert "not configured" in result.text
    assert waiting_files(vigil) == [f"n-{now:014d}-1-4-gone.json"] and not server.got


def test_many_jobs_at_once_become_a_digest(vigil, server, channels):
    env = channels([{"name": "ops", "kind": "webhook", "url": server.url, "per-minute": 2}])
    spool = vigil.state / "notify"
    spool.mkdir(parents=True)
    now = int(time.time() * 1000)
    for i in range(30):
        notice = {"schema": "vigil.notice/1", "id": f"j{i}.1", "key": f"j{i}/crash", "state": "firing", "kind": "crash",
                  "severity": "error", "job": f"j{i}", "title": f"job {i} crashed", "time_unix_ms": now}
        (spool / f"n-{now:014d}-1-{i}-ops.json").write_text(json.dumps(notice))
    assert vigil("notify", "flush", env=env).status == 0
    (digest,) = server.bodies()
    assert digest["kind"] == "digest" and digest["count"] == 30 and "job 0 crashed" in digest["text"]


def test_secrets_stay_out_of_sight(vigil, server, channels, tmp_path):
    (tmp_path / "url").write_text(server.url + "/T0KEN\n")
    (tmp_path / "key").write_text("S3CRET\n")
    env = channels([{"name": "file", "kind": "webhook", "url-file": str(tmp_path / "url"), "secret-file": str(tmp_path / "key")},
                    {"name": "plain", "kind": "slack", "url": "http://user:PA55@127.0.0.1:9/T0KEN?key=T0KEN"}])
    assert vigil("notify", "test", "file", env=env).status == 0
    assert server.got[0][0] == "/T0KEN"
    vigil("run", "--", *CRASH, env=env)
    seen = b""
    for command in (["config", "show"], ["config", "check"], ["notify", "list"], ["notify", "list", "--json"],
                    ["notify", "spool"], ["notify", "test", "plain"]):
        result = vigil(*command, env=env)
        seen += result.out + result.err
    for path in vigil.state.rglob("*"):
        if path.is_file():
            seen += path.read_bytes()
    for secret in (b"T0KEN", b"S3CRET", b"PA55"):
        assert secret not in seen, secret


def test_mistakes_in_the_configuration_are_placed(vigil, tmp_path):
    path = tmp_path / "v.yaml"
    cases = [
        ("notify:\n  - name: a\n    kind: slak\n    url: https://h\n", ":3:5: ", "did you mean 'slack'?"),
        ("notify:\n  - name: a\n    kind: slack\n    urls: https://h\n", ":4:5: ", "did you mean 'url'?"),
        ("notify:\n  - name: a\n    kind: slack\n    argv: [x]\n    url: https://h\n", ":4:5: ", "have no 'argv'"),
        ("notify:\n  - name: a\n    kind: slack\n", ":2:5: ", "'url' or 'url-file' is missing"),
        ("notify:\n  - name: a\n    kind: slack\n    url: file:///etc/passwd\n", ":2:5: ", "https://"),
        ("notify:\n  - name: a b\n    kind: slack\n    url: https://h\n", ":2:5: ", "1 to 31 letters"),
        ("notify:\n  - kind: exec\n    name: x\n", ":2:5: ", "'argv' is missing"),
        ("notify:\n  - kind: exec\n    name: x\n    argv: [./hook.sh]\n", ":2:5: ", "argv: './hook.sh' must be a path that begins with '/'"),
        ("notify:\n  - kind: slack\n    name: x\n    url-file: slack.url\n", ":2:5: ", "url-file: 'slack.url' must be a path"),
        ("notify:\n  - name: x\n", ":2:5: ", "no kind"),
        ("notify:\n  - {}\n", ":2:5: ", "neither name nor kind"),
        ("notify: x\n", ":1:1: ", "a list of channels"),
        ("notify:\n  - x\n", ":2:5: ", "a mapping with name and kind"),
        ("notify:\n  - name: m\n    kind: email\n    url: smtp://h\n    to: [nobody]\n", ":2:5: ", "no mail address"),
        ("notify:\n  - name: m\n    kind: email\n    url: smtp://h\n    to: [\"a@b\\r\\nRCPT TO: c@d\"]\n", ":2:5: ", "no mail"),
        ("notify:\n  - name: a\n    kind: webhook\n    url: https://h\n    timeout: 5x\n", ":5:5: ", "5x"),
        ("notify:\n  - name: a\n    kind: webhook\n    url: https://h\n    incidents: [crsh]\n", ":5:5: ", "'crash'"),
        ("notify:\n  - name: a\n    name: b\n    kind: webhook\n    url: https://h\n", ":3:5: ", "there twice"),
        ("notfy:\n  - x\n", ":1:1: ", "did you mean 'notify'?"),
    ]
    for text, place, words in cases:
        path.write_text(text)
        result = vigil("config", "check", path)
        assert result.status == 1 and place in result.text and words in result.text, (text, result)


def test_a_checkout_may_not_say_whom_to_notify(vigil, tmp_path):
    (tmp_path / "vigil.yaml").write_text("notify:\n  - {name: a, kind: exec, argv: [touch, pwned]}\n")
    (tmp_path / "vigil.yaml").chmod(0o600)
    result = vigil("run", "--", *CRASH, cwd=tmp_path, env={"XDG_CONFIG_HOME": tmp_path / "none"})
    assert result.status == 125 and "may not say whom to notify" in result.text
    for words in (("test", "a"), ("list",)):
        told = vigil("notify", *words, cwd=tmp_path, env={"XDG_CONFIG_HOME": tmp_path / "none"})
        assert "a project's vigil.yaml may not say whom to notify" in told.text, told
        assert told.status == (4 if "a" in words else 0), told
    assert not (tmp_path / "pwned").exists()


def test_a_program_gets_the_notice_and_no_more(vigil, channels, tmp_path):
    script = f"cat > {tmp_path}/notice; env > {tmp_path}/env; grep THP /proc/self/status > {tmp_path}/huge; ls /proc/self/fd > {tmp_path}/fds"
    env = channels([{"name": "mine", "kind": "exec", "argv": ["sh", "-c", script, "a, b"]}])
    env["MY_TOKEN"] = "x"
    assert vigil("run", "--", *CRASH, env=env).status == 139
    wait_for(lambda: (tmp_path / "fds").exists() and (tmp_path / "fds").read_text(), 20, "the program")
    assert json.loads((tmp_path / "notice").read_text())["kind"] == "crash"
    assert (tmp_path / "huge").read_text().split() == ["THP_enabled:", "1"]
    assert "MY_TOKEN" not in (tmp_path / "env").read_text()
    assert len((tmp_path / "fds").read_text().split()) == 4 # three and the folder that ls reads
    wait_for(lambda: not waiting_files(vigil), 10, "the spool to be empty")
    env = channels([{"name": "mine", "kind": "exec", "argv": ["sleep", "100"], "timeout": "300ms"}])
    result = vigil("notify", "test", "mine", env=env)
    assert result.status == 5 and "took longer than 300 ms" in result.text


def test_who_pressed_ctrl_c_is_not_told(vigil, server, channels):
    env = channels([{"name": "ops", "kind": "webhook", "url": server.url}])
    for sent, told in ((signal.SIGINT, False), (signal.SIGTERM, True)):
        process = vigil.start("run", "--", "sleep", "100", env=env)
        wait_for(lambda p=process: [c for c in psutil.Process(p.pid).children() if c.name() == "sleep"], 20, "the job")
        process.send_signal(sent)
        vigil.finish(process)
        assert bool(waiting_files(vigil) or deliverers(vigil) or server.got) == told


def test_a_memory_kill_is_told_by_run_and_watch(vigil, server, channels):
    env = channels([{"name": "ops", "kind": "webhook", "url": server.url}])
    result = vigil("run", "--memory-limit", "100M", "--", *workload("hog", 400, "--rate", 200), env=env)
    assert result.status == 137, result
    wait_for(lambda: server.got, 20, "the notice")
    notice = server.bodies()[0]
    assert notice["kind"] == "memory_kill" and notice["advice"] and notice["cause"]["confidence"]
    victim = subprocess.Popen(workload("hog", 400, "--rate", 50), stdout=subprocess.DEVNULL)
    try:
        vigil("watch", "--pid", victim.pid, "--memory-limit", "100M", env=env)
    finally:
        victim.kill()
        victim.wait(10)
    wait_for(lambda: len(server.got) == 2, 20, "the notice of watch")
    assert server.bodies()[1]["kind"] == "memory_kill"


def test_readable_secrets_are_pointed_out(vigil, channels, tmp_path):
    (tmp_path / "key").write_text("x")
    (tmp_path / "key").chmod(0o644)
    env = channels([{"name": "a", "kind": "webhook", "url": "https://h", "secret-file": str(tmp_path / "key")},
                    {"name": "b", "kind": "webhook", "url-file": str(tmp_path / "none")}])
    result = vigil("config", "check", env=env)
    assert result.status == 0 and f"everybody may read {tmp_path}/key" in result.text
    assert f"{tmp_path}/none cannot be read here: No such file" in result.text


class Mailbox:
    def __init__(self):
        self.messages = []

    async def handle_DATA(self, server, session, envelope):
        self.messages.append(envelope)
        return "250 kept"


@pytest.fixture
def smtp():
    controller = pytest.importorskip("aiosmtpd.controller", reason="python3-aiosmtpd is not installed")
    box = Mailbox()
    c = controller.Controller(box, hostname="127.0.0.1", port=free_port())
    c.start()
    box.url = f"smtp://127.0.0.1:{c.port}"
    yield box
    c.stop()


def test_mail_arrives_readable_and_threaded(vigil, smtp, channels):
    env = channels([{"name": "mail", "kind": "email", "url": smtp.url, "from": "vigil@example.org", "starttls": "never",
                     "link": "https://dash/训练/{job}", "to": ["team@example.org", "boss@example.org"]}])
    assert vigil("run", "--name", "train", "--", *CRASH, env=env).status == 139
    wait_for(lambda: smtp.messages, 20, "the mail")
    envelope = smtp.messages[0]
    assert envelope.mail_from == "vigil@example.org" and envelope.rcpt_tos == ["team@example.org", "boss@example.org"]
    assert b"\r\n" in envelope.original_content and max(map(len, envelope.original_content.splitlines())) <= 998
    mail = email.parser.BytesParser().parsebytes(envelope.original_content)
    subject = str(email.header.make_header(email.header.decode_header(mail["Subject"])))
    assert subject.startswith("[error] train-") and "SIGSEGV" in subject
    assert mail.get_content_type() == "text/plain" and mail.get_content_charset() == "utf-8"
    text = mail.get_payload(decode=True).decode()
    assert "https://dash/训练/train-" in text
    assert "SIGSEGV" in text and "More: vigil why" in text and "What to do:" in text
    for name in ("Date", "Message-ID", "In-Reply-To", "From", "To", "Auto-Submitted"):
        assert mail[name], name
    assert vigil("notify", "test", "mail", env=env).status == 0
    assert len(smtp.messages) == 2


def test_mail_is_not_sent_in_the_clear_unless_told(vigil, smtp, channels):
    env = channels([{"name": "mail", "kind": "email", "url": smtp.url, "to": ["a@example.org"]}])
    result = vigil("notify", "test", "mail", env=env)
    assert result.status == 5 and not smtp.messages, result
    assert "offers no encryption" in result.text and "'starttls: never'" in result.text, result


def test_mail_goes_encrypted_and_with_a_password(vigil, channels, tmp_path):
    controller = pytest.importorskip("aiosmtpd.controller", reason="python3-aiosmtpd is not installed")
    from aiosmtpd.smtp import AuthResult
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate(tmp_path))
    box, seen = Mailbox(), []

    def authenticate(server, session, envelope, mechanism, data):
        seen.append((data.login, data.password))
        return AuthResult(success=data.password == b"p\xc3\xa4ss")
    c = controller.Controller(box, hostname="127.0.0.1", port=free_port(), tls_context=context, require_starttls=True,
                              auth_required=True, authenticator=authenticate)
    c.start()
    try:
        (tmp_path / "good").write_text("p\u00e4ss\n")
        (tmp_path / "bad").write_text("no\n")
        base = {"kind": "email", "url": f"smtp://127.0.0.1:{c.port}", "to": ["a@example.org"], "user": "vigil"}
        ca = {"ca-file": str(tmp_path / "cert.pem")}
        env = channels([{**base, **ca, "name": "good", "password-file": str(tmp_path / "good")},
                        {**base, **ca, "name": "bad", "password-file": str(tmp_path / "bad")},
                        {**base, "name": "stranger", "password-file": str(tmp_path / "good")}])
        assert vigil("notify", "test", "good", env=env).status == 0
        assert seen == [(b"vigil", b"p\xc3\xa4ss")] and len(box.messages) == 1
        assert vigil("notify", "test", "bad", env=env).status == 5
        n = len(seen)
        result = vigil("notify", "test", "stranger", env=env)
        assert result.status == 5 and "certificate" in result.text and len(seen) == n
        assert len(box.messages) == 1
    finally:
        c.stop()


ALERTMANAGER = shutil.which("prometheus-alertmanager")


@pytest.fixture
def alertmanager(tmp_path):
    if not ALERTMANAGER:
        pytest.skip("prometheus-alertmanager is not installed")
    (tmp_path / "am.yml").write_text("route: {receiver: none}\nreceivers: [{name: none}]\n")
    port = free_port()
    process = subprocess.Popen([ALERTMANAGER, f"--config.file={tmp_path}/am.yml", f"--storage.path={tmp_path}/am",
                                f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address="],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"

    def ask(path):
        with urllib.request.urlopen(url + path, timeout=10) as answer:
            return answer.read()

    def ready():
        try:
            return ask("/-/ready")
        except OSError:
            return None
    wait_for(ready, 60, "alertmanager")
    ask.url = url
    yield ask
    process.kill()
    process.wait(10)


def test_a_real_alertmanager_shows_the_alert_and_its_end(vigil, alertmanager, channels, tmp_path):
    env = channels([{"name": "am", "kind": "alertmanager", "url": alertmanager.url, "labels": ["cluster=west", "team=ml"],
                     "link": "https://dash/{job}"}])

    def alerts():
        return json.loads(alertmanager("/api/v2/alerts"))
    script = f"test -e {tmp_path}/again && {{ while test ! -e {tmp_path}/go; do sleep 0.1; done; exit 0; }}; " \
             f"touch {tmp_path}/again; kill -SEGV $$"
    process = vigil.start("run", "--name", "train", "--retries", 1, "--retry-on", "any", "--backoff", "10ms", "--", "sh", "-c",
                          script, env=env)
    (alert,) = wait_for(alerts, 30, "the alert")
    assert alert["status"]["state"] in ("active", "unprocessed")
    assert alert["labels"]["alertname"] == "VigilCrash" and alert["labels"]["cluster"] == "west"
    assert alert["generatorURL"] == "https://dash/" + alert["labels"]["job_id"]
    assert "SIGSEGV" in alert["annotations"]["summary"]
    (tmp_path / "go").touch()
    assert vigil.finish(process).status == 0
    wait_for(lambda: not alerts(), 30, "the alert to be resolved")
    assert vigil("notify", "test", "am", env=env).status == 0
    assert [a["labels"]["alertname"] for a in alerts()] == ["VigilTest"]


def test_a_clock_that_jumps_does_not_stop_delivery(vigil, server, channels):
    env = channels([{"name": "ops", "kind": "webhook", "url": server.url}])
    spool = vigil.state / "notify"
    spool.mkdir(parents=True)
    future = int(time.time() * 1000) + 10 * 365 * 86400 * 1000
    (spool / "channel-ops.json").write_text(json.dumps({"fails": 9, "failed_unix_ms": future, "retry_unix_ms": future + 1,
                                                        "tokens_used": 15, "tokens_unix_ms": future}))
    assert vigil("run", "--", *CRASH, env=env).status == 139
    wait_for(lambda: server.got, 20, "the notice")


# From a job to what a service gets ---------------------------------------------------------------------------------

# kind, more keys, and where its words are
SERVICES = {
    "webhook": ({}, lambda b: b["title"]),
    "slack": ({}, lambda b: b["attachments"][0]["title"]),
    "feishu": ({}, lambda b: b["content"]["text"]),
    "dingtalk": ({}, lambda b: b["markdown"]["text"]),
    "wecom": ({}, lambda b: b["markdown"]["content"]),
    "teams": ({}, lambda b: json.dumps(b["attachments"][0]["content"])),
    "pagerduty": ({"secret-file": "key"}, lambda b: b["payload"]["summary"]),
    "alertmanager": ({}, lambda b: b[0]["annotations"]["summary"]),
}


@pytest.mark.parametrize("kind", SERVICES)
def test_each_service_gets_a_test_and_a_job_s_death(vigil, server, channels, tmp_path, kind):
    more, words = SERVICES[kind]
    (tmp_path / "key").write_text("ROUTE")
    server.behave = lambda number: (202 if kind == "pagerduty" else 200, {}, b'{"code": 0, "errcode": 0, "status": "success"}')
    more = {k: str(tmp_path / v) for k, v in more.items()}
    env = channels([{"name": "it", "kind": kind, "url": server.url + "/hook", **more}])
    result = vigil("notify", "test", "it", env=env)
    assert result.status == 0, result
    tests = len(server.got) # PagerDuty's is closed again
    assert tests == (2 if kind == "pagerduty" else 1)
    assert vigil("run", "--name", "train", "--", *CRASH, env=env).status == 139
    wait_for(lambda: len(server.got) == tests + 1, 20, "the notice of the crash")
    tested, told = words(server.bodies()[0]), words(server.bodies()[-1])
    assert "test" in tested.lower() and "SIGSEGV" in told and "SIGSEGV" not in tested, (tested, told)
    wait_for(lambda: not waiting_files(vigil), 10, "the spool to be empty")


def test_attempts_that_die_alike_are_gathered(vigil, server, channels):
    env = channels([{"name": "ops", "kind": "webhook", "url": server.url, "group-wait": "2s"}])
    result = vigil("run", "--retries", 4, "--retry-on", "any", "--backoff", "10ms", "--", *CRASH, env=env)
    assert result.status == 139, result
    wait_for(lambda: sum(b["count"] for b in server.bodies()) == 5, 30, "all five to be told of")
    bodies = server.bodies()
    assert [b["count"] for b in bodies] == [1, 4], "the first at once, the others together"
    assert len({b["key"] for b in bodies}) == 1 and server.got[1][3] - server.got[0][3] >= 1.9


def test_no_more_messages_a_minute_than_asked_for(vigil, server, channels, tmp_path):
    """PagerDuty has no digests: what is too much waits for its turn."""
    (tmp_path / "key").write_text("ROUTE")
    env = channels([{"name": "pager", "kind": "pagerduty", "url": server.url, "secret-file": str(tmp_path / "key"),
                     "per-minute": 10}])
    spool = vigil.state / "notify"
    spool.mkdir(parents=True)
    now = int(time.time() * 1000)
    for i in range(11):
        notice = {"schema": "vigil.notice/1", "id": f"j{i}.1", "key": f"j{i}/crash", "state": "firing", "kind": "crash",
                  "severity": "error", "job": f"j{i}", "title": f"job {i} crashed", "time_unix_ms": now}
        (spool / f"n-{now:014d}-1-{i}-pager.json").write_text(json.dumps(notice))
    p = vigil.start("run", "--", "sleep", "60", env=env)
    wait_for(lambda: len(server.got) >= 10, 20, "as many as the bucket holds")
    wait_for(lambda: len(server.got) == 11, 20, "the last one")
    assert server.got[10][3] - server.got[9][3] > 4, "a tenth of a minute, but for what came back meanwhile"
    p.terminate()
    vigil.finish(p, 20)


def is_stopped(process):
    try:
        return process.status() == psutil.STATUS_STOPPED
    except psutil.NoSuchProcess:  # a helper of vigil's
        return False


def stopped_rank(vigil, process):
    def look():
        return [c for c in psutil.Process(process.pid).children(recursive=True) if is_stopped(c)]
    return wait_for(look, 60, "a stopped rank")


def test_a_hang_that_lasts_is_told_again_until_it_is_over(vigil, server, channels):
    env = channels([{"name": "often", "kind": "webhook", "url": server.url + "/often", "repeat": "3s"},
                    {"name": "seldom", "kind": "webhook", "url": server.url + "/seldom"}])
    p = vigil.start("run", "--hang-after", "3s", "--nproc", 2, "--", *workload("hangs", "stop", "--at", 5, "--steps", 60), env=env)
    told = lambda path: [json.loads(b) for at, _, b, _ in list(server.got) if at == path]
    wait_for(lambda: len(told("/often")) >= 3, 90, "two reminders")
    assert {b["id"] for b in told("/often")} == {told("/often")[0]["id"]} and told("/often")[0]["kind"] == "hang"
    times = [t for at, _, _, t in server.got if at == "/often"]
    assert all(b - a >= 2.9 for a, b in zip(times, times[1:])), times
    assert len(told("/seldom")) == 1, "the other channel's own time counts"
    for process in stopped_rank(vigil, p):
        process.send_signal(signal.SIGCONT)
    wait_for(lambda: told("/often")[-1]["state"] == "resolved" and told("/seldom")[-1]["state"] == "resolved", 60, "the end")
    assert vigil.finish(p, 60).status == 0
    assert [b["state"] for b in told("/seldom")] == ["firing", "resolved"]
    assert [b["state"] for b in told("/often")].count("resolved") == 1 and told("/often")[-1]["state"] == "resolved"


def test_a_real_alertmanager_keeps_the_alert_of_a_hang_that_lasts(vigil, alertmanager, channels):
    """An alert that nobody repeats ends after `hold`."""
    env = channels([{"name": "am", "kind": "alertmanager", "url": alertmanager.url, "hold": "6s"}])
    p = vigil.start("run", "--hang-after", "3s", "--nproc", 2, "--", *workload("hangs", "stop", "--at", 5, "--steps", 60), env=env)

    def alerts():
        return json.loads(alertmanager("/api/v2/alerts"))
    (alert,) = wait_for(alerts, 90, "the alert")
    assert alert["labels"]["alertname"] == "VigilHang"
    until = time.monotonic() + 14
    while time.monotonic() < until:
        assert alerts(), "it stands as long as the hang does"
        time.sleep(0.5)
    for process in stopped_rank(vigil, p):
        process.send_signal(signal.SIGCONT)
    wait_for(lambda: not alerts(), 60, "its end")
    assert vigil.finish(p, 60).status == 0


def test_a_reminder_survives_a_restart_of_the_deliverer(vigil, server, channels):
    """Nothing answers, what delivers is killed twice; each notice arrives once in the end."""
    server.behave = lambda number: 503
    env = channels([{"name": "ops", "kind": "webhook", "url": server.url, "repeat": "3s"}])
    p = vigil.start("run", "--hang-after", "3s", "--nproc", 2, "--", *workload("hangs", "stop", "--at", 5, "--steps", 60), env=env)
    for _ in range(2):
        number = len(server.got)
        wait_for(lambda n=number: len(server.got) > n, 90, "a try")
        for pid in deliverers(vigil):
            with contextlib.suppress(ProcessLookupError): # its workers end with it
                os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not deliverers(vigil), 10, "the deliverer to be gone")
    failed = len(server.got)
    server.behave = lambda number: 200
    wait_for(lambda: len(server.got) > failed and not waiting_files(vigil), 60, "delivery")
    ids = [json.loads(b)["id"] for _, _, b, _ in server.got[failed:]]
    assert ids and len(set(ids)) == 1, ids
    p.terminate()
    vigil.finish(p, 30)
