"""`vigil agent`: whom it adopts by the text of a command line."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys

import psutil
import pytest

from conftest import wait_for, workload
from hangkit import events


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


def watcher_of(agent):
    return wait_for(lambda: [p for p in psutil.Process(agent.pid).children() if p.name() == "vigil-hang"], 60, "the watcher")[0]


def test_the_watcher_for_hangs_takes_little_for_each_job(vigil, tmp_path):
    """It has tables for the largest job that there may be; of each it takes what the job needs."""
    mark, jobs = f"many-{os.getpid()}", 24
    program = sleep_named(tmp_path, mark)
    sleepers = [subprocess.Popen([program, "300"]) for _ in range(jobs)]
    try:
        agent = vigil.start("agent", "--command", mark)
        folder = vigil.state / "jobs"
        wait_for(lambda: folder.is_dir() and sum(p.name != "agent" for p in folder.iterdir()) == jobs, 60, "all to be adopted")
        watcher = watcher_of(agent)
        # a kept file of /proc for each job: it has read them all
        wait_for(lambda: sum(b"/stat" in os.readlink(os.path.join(f"/proc/{watcher.pid}/fd", f)).encode()
                             for f in os.listdir(f"/proc/{watcher.pid}/fd")) >= jobs, 60, "the watcher to have read them")
        own = watcher.memory_full_info().uss
        assert own < (8 << 20) + jobs * (1 << 20), f"{own >> 10} KiB for {jobs} jobs"
    finally:
        for p in sleepers:
            p.kill()
            p.wait(10)


def test_where_all_jobs_stand_still_evidence_is_gathered_of_a_few_at_a_time(vigil):
    """Each has child processes for some seconds: of all at once they would take up the service's limits."""
    mark, jobs = f"stand-{os.getpid()}", 56
    program = f"import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()  # {mark}"
    stand = [subprocess.Popen([sys.executable, "-S", "-c", program], start_new_session=True) for _ in range(jobs)]
    most = 0
    try:
        agent = vigil.start("agent", "--command", mark, "--hang-after", "5s")
        watcher = watcher_of(agent)

        def told():
            nonlocal most
            most = max(most, len(watcher.children()))
            return len({e["job"] for e in events(vigil, "hang")}) == jobs
        wait_for(told, 170, "all to be told of")
    finally:
        for p in stand:
            p.kill()
            p.wait(10)
    # a reader of logs and one of collectives of each of 16, helpers of the watcher's own, and who waits to be taken in
    assert 1 < most <= 2 * 16 + 12, most


def test_one_bpf_program_serves_all_jobs_and_each_is_told_who_killed_it(vigil, tmp_path):
    mark = f"senders-{os.getpid()}"
    program = sleep_named(tmp_path, mark)
    jobs = [subprocess.Popen([program, "300"]) for _ in range(3)]
    try:
        agent = vigil.start("agent", "--command", mark, "--hang-after", "0")
        folder = vigil.state / "jobs"
        wait_for(lambda: folder.is_dir() and sum(p.name != "agent" for p in folder.iterdir()) == len(jobs), 60, "all to be adopted")
        with open(f"/proc/{agent.pid}/maps") as f:
            rings = sum("bpf" in line and " r--s " in line for line in f)
        if rings == 0:
            pytest.skip("BPF programs may not be loaded here")
        assert rings == 1
        ids = [p.name for p in folder.iterdir() if p.name != "agent"]
        for job in jobs:
            job.kill()
            job.wait(10)
        said = lambda: [vigil("why", name, "--json").out for name in ids]  # noqa: E731
        wait_for(lambda: all(b'"killed_by"' in text for text in said()), 60, "a report of each")
        assert all(b"pid %d" % os.getpid() in text for text in said()), said()
    finally:
        for p in jobs:
            p.kill()
            p.wait(10)


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
