"""Threads that wake up often and go on waiting for the same: what `vigil waits` tells of a loop that tries again, and of calls of
gRPC. Of gRPC there is a stand-in, whose files and functions have the names of the real ones."""
import json
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import pythons  # noqa: E402
from conftest import WORKLOADS, wait_for  # noqa: E402

RETRY = WORKLOADS / "triesagain.py"
FOUND = [p for p in pythons.find(at_least=(3, 8)) if not p.free_threaded]

COMMON = """
    def wait(wait_fn, complete, timeout=None):
        while not complete():
            _wait_once(wait_fn, 0.1)


    def _wait_once(wait_fn, timeout):
        wait_fn(timeout=timeout)
"""

CHANNEL = """
    import select
    import socket
    import threading
    from grpc import _common


    class Call(Exception):
        def __init__(self, port, deadline):
            self._deadline = deadline
            self.sock = socket.create_connection(("127.0.0.1", port))
            self.done = threading.Event()
            threading.Thread(target=self.channel_spin, daemon=True).start()

        def channel_spin(self):
            select.select([self.sock], [], [], 86400)
            self.done.set()

        def result(self, timeout=None):
            _common.wait(self.done.wait, self.done.is_set, timeout)


    def _consume_request_iterator(messages):
        def consume_request_iterator():
            for _ in messages:
                pass
        threading.Thread(target=consume_request_iterator, daemon=True).start()
"""

SERVER = """
    import concurrent.futures
    import select
    import socket
    import threading
    from grpc import _common


    def _call_behavior(behavior):
        return behavior()


    class _RequestIterator:
        def __init__(self):
            self.condition = threading.Condition()

        def _next(self):
            with self.condition:
                self.condition.wait()


    class Server:
        def __init__(self, behavior):
            self.listener = socket.create_server(("127.0.0.1", 0))
            self.pool = concurrent.futures.ThreadPoolExecutor(2)
            self.behavior, self.ended = behavior, threading.Event()
            threading.Thread(target=self._serve, daemon=True).start()

        def _serve(self):
            one, _ = self.listener.accept()
            self.pool.submit(int)
            self.pool.submit(_call_behavior, self.behavior)
            select.select([one], [], [], 86400)

        def wait_for_termination(self):
            _common.wait(self.ended.wait, self.ended.is_set)
"""

SERVING = """
    import queue
    from grpc import _server

    rows, kept = queue.Queue(), []


    def merge():
        return rows.get()


    kept.append(rows)
    server = _server.Server(merge)
    print(server.listener.getsockname()[1], flush=True)
    server.wait_for_termination()
"""

CALLING = """
    import sys
    import time
    from grpc import _channel
    call = _channel.Call(int(sys.argv[1]), time.time() + float(sys.argv[3]) if sys.argv[3:] else None)
    print("asked", flush=True)
    call.result(timeout=float(sys.argv[2]) if sys.argv[2:] else None)
"""


COLLECTING = """
    from grpc import _server

    kept = [_server._RequestIterator()]


    def collect():
        return kept[0]._next()


    server = _server.Server(collect)
    print(server.listener.getsockname()[1], flush=True)
    server.wait_for_termination()
"""

FEEDING = """
    import queue
    import sys
    import threading
    from grpc import _channel

    def work():
        while True:
            sum(range(1000))

    parts = queue.Queue()
    if sys.argv[2] == "work":
        threading.Thread(target=work, daemon=True).start()
    call = _channel.Call(int(sys.argv[1]), None)
    _channel._consume_request_iterator(iter(parts.get, None))
    print("asked", flush=True)
    call.result()
"""


def ask(binary, pid):
    done = subprocess.run([binary, "waits", str(pid), "--json"], capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


def hints(answer):
    return {(t["hint"]["kind"], t["tid"]): t for p in answer["processes"] for t in p["threads"] if "hint" in t}


@pytest.mark.parametrize("how,function", [("plainly", "build"), ("within", "lock")])
@pytest.mark.parametrize("python", FOUND, ids=str)
def test_a_loop_of_naps_says_what_it_tries_again(python, how, function, binary, tmp_path):
    placed = python.place(RETRY)
    process = subprocess.Popen([*python.argv, placed, how], stdout=subprocess.PIPE, text=True, env=python.env())
    try:
        truth = json.loads(process.stdout.readline())

        def told():
            found = [t for (kind, tid), t in hints(ask(binary, truth["main"])).items() if kind == "retry"]
            return found and found[0]
        thread = wait_for(told, what="a look at the nap")
        assert thread["hint"]["text"] == f"tries again after FileExistsError of {truth['path']} at triesagain.py:{truth['line']} in {function}"
        assert thread["end"] == "sleeps" and thread["main"] and not thread["hint"]["proof"]
    finally:
        process.kill()
        process.communicate(timeout=20)
        python.unplace(placed)


def test_an_exception_that_is_handled_further_out_says_nothing_of_a_nap(binary):
    process = subprocess.Popen([sys.executable, str(RETRY), "outside"], stdout=subprocess.PIPE, text=True)
    try:
        truth = json.loads(process.stdout.readline())
        for _ in range(3):
            assert not hints(ask(binary, truth["main"]))
    finally:
        process.kill()
        process.communicate(timeout=20)


@pytest.fixture
def grpc(tmp_path):
    """Starts programs that use the stand-in; each line that they print first is the answer."""
    folder, running = tmp_path / "grpc", []
    folder.mkdir()
    for name, text in (("__init__", ""), ("_common", COMMON), ("_channel", CHANNEL), ("_server", SERVER)):
        (folder / f"{name}.py").write_text(textwrap.dedent(text))

    def start(name, text, *args):
        (tmp_path / name).write_text(textwrap.dedent(text))
        process = subprocess.Popen([sys.executable, str(tmp_path / name), *args], stdout=subprocess.PIPE, text=True,
                                   env=dict(os.environ, PYTHONPATH=str(tmp_path)))
        running.append(process)
        return process, process.stdout.readline().strip()
    yield start
    for process in running:
        process.kill()
        process.communicate(timeout=20)


def kinds(found):
    return {kind for kind, _ in found}


def test_a_call_leads_to_the_thread_that_works_on_it(grpc, binary):
    server, port = grpc("serve.py", SERVING)
    caller, _ = grpc("train.py", CALLING, port)
    wait_for(lambda: {"idle", "text"} <= kinds(hints(ask(binary, server.pid))), what="the handler in its queue")
    answer = ask(binary, os.getpid())
    mine = {p["pid"]: p for p in answer["processes"]}
    main = mine[caller.pid]["threads"][0]
    assert main["hint"]["kind"] == "call" and main["hint"]["text"].startswith("answer of a gRPC server at train.py:7")
    assert [a["kind"] for a in main["arrows"]] == ["call"], main
    to = main["arrows"][0]["to"]
    handler = next(t for t in mine[server.pid]["threads"] if t["tid"] == to.get("tid"))
    assert to["pid"] == server.pid and "queue.Queue.get at serve.py:9 in merge" in handler["waiting_on"]
    assert handler["end"] == "visitor" and handler["arrows"] == []
    assert mine[server.pid]["threads"][0]["hint"]["kind"] == "idle"
    assert mine[server.pid]["threads"][0]["end"] == "visitor"


@pytest.mark.parametrize("how", ["wait", "work"])
def test_a_stream_leads_to_the_thread_that_brings_its_messages(grpc, binary, how):
    """And to who may make them: a thread of the caller's that works."""
    server, port = grpc("serve.py", COLLECTING)
    caller, _ = grpc("train.py", FEEDING, port, how)

    def arrow():
        threads = {(p["pid"], t["tid"]): t for p in ask(binary, os.getpid())["processes"] for t in p["threads"]}
        handler = next((t for (pid, _), t in threads.items() if pid == server.pid and "_next" in t.get("waiting_on", "")), None)
        found = handler["arrows"] if handler else []
        to = found[0]["to"] if len(found) == 1 else {}
        return to.get("pid") == caller.pid and (found[0]["quality"], to.get("any_of"),
                                                "consume_request_iterator" in threads.get((to["pid"], to.get("tid")), {}).get("waiting_on", ""))
    wanted = ("likely", None, True) if how == "wait" else ("possible", 2, False)
    wait_for(lambda: arrow() == wanted, 60, f"the handler's arrow to be {wanted}")


@pytest.mark.parametrize("args, least, most", [((), None, None), (("250",), 250, 250), (("0", "350"), 250, 350)])
def test_the_limit_of_a_call_is_told_however_often_its_thread_wakes_up(grpc, binary, args, least, most):
    server, port = grpc("serve.py", SERVING)
    caller, _ = grpc("train.py", CALLING, port, *args)
    main = wait_for(lambda: hints(ask(binary, caller.pid)).get(("call", caller.pid)), what="the call")
    limit = main["hint"].get("limit_ms")
    assert (limit is None) if least is None else least * 1000 <= limit <= most * 1000, main["hint"]
