"""Pages of one user's process never come, as those of a file whose server stands: root's vigil serves the others on."""
import ctypes
import json
import os
import signal
import subprocess
import sys

import psutil
import pytest

from conftest import ROOT, wait_for
from strangerkit import needs_root

pytestmark = needs_root
NOBODY, OTHER = 65534, 65533
STANDS = """
import ctypes, sys
ctypes.CDLL(None)
state = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime")) & ~4095
run = ctypes.PyDLL(sys.argv[1]).run
run.argtypes = [ctypes.c_void_p, ctypes.c_long, ctypes.c_int, ctypes.c_long, ctypes.c_long]
run(state, 8 * 4096, int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
"""
STUCK = "import threading\nlock = threading.Lock()\nlock.acquire()\nprint('ready', flush=True)\nlock.acquire()\n"
GROWS = "import time\nprint('ready', flush=True)\nkept = []\nwhile True:\n    kept.append(bytearray(b'x') * (5 << 20))\n    time.sleep(0.05)\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    if not hasattr(ctypes.pythonapi, "_PyRuntime"):
        pytest.skip("this Python does not tell where its state is")
    made = tmp_path_factory.mktemp("deadpages") / "deadpages.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-Wl,-z,now", "-o", made, ROOT / "tests/e2e/native/deadpages.c"], check=True)
    return made


@pytest.fixture
def others():
    """others(code, *words, uid=None): a process of another user that has said that it is ready."""
    started, keepers = [], []

    def start(code, *words, uid=None):
        process = subprocess.Popen([sys.executable, "-u", "-c", code, *map(str, words)], stdout=subprocess.PIPE, user=uid, group=uid, cwd="/")
        started.append(process)
        said = process.stdout.readline().split()
        if not said and process.wait(20) == 3:
            pytest.skip("no page can be made to stand here (userfaultfd)")
        assert said[0] == b"ready", said
        keepers.extend(map(int, said[1:]))
        return process

    yield start
    for process in started:
        process.kill()
        process.wait(20)
        process.stdout.close()
    for pid in keepers:
        os.kill(pid, signal.SIGKILL)


def text_of(events, kind, pid):
    return [e for e in events if e["kind"] == kind and (not pid or str(pid) in json.dumps(e))]


def events(vigil):
    return [json.loads(line) for line in vigil("events", "--json").out.splitlines()]


def ends_at_once(vigil, agent):
    agent.send_signal(signal.SIGTERM)
    vigil.finish(agent, 15)


def test_a_victim_whose_memory_never_comes_does_not_keep_the_agent_from_the_next_one(vigil, library, others, tmp_path):
    mark = f"mark-{os.getpid()}-{tmp_path.name}"
    stands = others(STANDS, library, NOBODY, 4, 400, mark)
    agent = vigil.start("agent", "--command", mark, "--memory-limit", "200M")
    assert stands.wait(60) == -signal.SIGKILL
    # begun later, so it has to be adopted first
    assert others(GROWS, mark, uid=OTHER).wait(60) == -signal.SIGKILL
    wait_for(lambda: len(text_of(events(vigil), "memory_kill", None)) >= 2, 40, "both to be told of")
    ends_at_once(vigil, agent)


def test_a_process_whose_memory_never_comes_hides_no_hang_of_another_user(vigil, library, others, tmp_path):
    mark = f"mark-{os.getpid()}-{tmp_path.name}"
    others(STANDS, library, NOBODY, 0, 0, mark)
    stuck = others(STUCK, mark, uid=OTHER)
    agent = vigil.start("agent", "--command", mark, "--hang-after", "8s")
    told = wait_for(lambda: text_of(events(vigil), "hang", None), 60, "the hang")
    assert psutil.pid_exists(stuck.pid) and told, told
    ends_at_once(vigil, agent)


def test_a_look_by_hand_comes_back(vigil, library, others):
    stands = others(STANDS, library, NOBODY, 0, 0)
    for words in (["stack"], ["stack", "--native"], ["waits", "--seconds", "0"], ["flame", "-d", "1", "-o", os.devnull], ["heap"]):
        result = vigil(*words[:1], str(stands.pid), *words[1:], timeout=40)
        assert result.status in (0, 1, 4, 5), result
