"""`vigil agent`: whom it adopts by the text of a command line."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys

from conftest import wait_for, workload


def test_a_program_below_a_folder_called_vigil_is_adopted_and_vigil_itself_is_not(vigil, tmp_path):
    folder = tmp_path / "vigil" / "here"
    folder.mkdir(parents=True)
    program = shutil.copy(workload("hog")[2], folder / "train.py")
    own = vigil.start("run", "--quiet", "--", "sh", "-c", "echo ready; exec sleep 60", folder)
    assert own.stdout.readline() == b"ready\n"
    job = subprocess.Popen([sys.executable, program, "1", "--hold", "60"], start_new_session=True)
    try:
        vigil.start("agent", "--command", str(folder))
        jobs = wait_for(lambda: [j for j in map(json.loads, vigil("jobs", "--json").out.splitlines()) if j.get("adopted")],
                        20, "the program to be adopted")
        assert [j["pid"] for j in jobs] == [job.pid]
    finally:
        job.kill()
        job.wait(10)


def test_a_crowd_of_one_user_does_not_take_all_places(vigil, tmp_path):
    """70 sleepers of one user, and a hog that comes later: the hog is guarded, and it is told how many are not."""
    text = f"crowd-{os.getpid()}"
    sleepers = [subprocess.Popen([sleep_named(tmp_path, text), "300"]) for _ in range(70)]
    hog = None
    try:
        agent = vigil.start("agent", "--command", text, "--hang-after", "0")
        adopted = lambda: [j["pid"] for j in map(json.loads, vigil("jobs", "-n", "0", "--running", "--json").out.splitlines())]  # noqa: E731
        wait_for(lambda: "not guarded" in vigil("jobs").text, 60, "the crowd to be told of")
        hog = subprocess.Popen([sys.executable, "-c", "x = b'x' * (40 << 20); import time; time.sleep(300)", text])
        wait_for(lambda: hog.pid in adopted(), 90, "the hog to be guarded")
        told = next(f for f in vigil("doctor", "--json").json()["findings"] if f["id"] == "jobs-unguarded")
        assert "guards 64" in told["text"], told
    finally:
        for p in [*sleepers, hog]:
            if p:
                p.kill()
                p.wait(10)
    agent.terminate()
    result = vigil.finish(agent, 60)
    assert result.text.count("not guarded") == 1, "told of once"
    assert "not guarded" not in vigil("jobs").text


def sleep_named(folder, text):
    """The path of a copy of sleep with the text in its name."""
    program = folder / f"sleep-{text}"
    if not program.exists():
        shutil.copy("/bin/sleep", program)
    return str(program)


def test_the_service_is_ready_before_it_adopts(vigil, tmp_path):
    """Its manager gives a service a minute and a half, and there may be many jobs. One queue holds both in their order."""
    mark = f"ready-test-{os.getpid()}"
    said = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    said.bind(str(tmp_path / "said"))
    said.settimeout(20)
    err = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    err.connect(str(tmp_path / "said"))
    job = subprocess.Popen(["sh", "-c", f"sleep 60; : {mark}"], start_new_session=True)
    try:
        vigil.start("agent", "--command", mark, env={"NOTIFY_SOCKET": str(tmp_path / "said")}, stderr=err)
        seen = []
        while "watching" not in seen:
            text = said.recv(65536).decode(errors="replace")
            seen += [word for word in ("READY=1", "watching") if word in text]
        assert seen == ["READY=1", "watching"]
    finally:
        os.killpg(job.pid, signal.SIGKILL)
        job.wait(10)
        said.close()
        err.close()
