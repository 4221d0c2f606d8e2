"""A bag is a job: the commands that read know it."""
import sys

from conftest import wait_for

GROW = "import sys, time; x = [b'x' * (2 << 20) for _ in range(int(sys.argv[1]) // 2) if not time.sleep(0.002)]; time.sleep(0.3)"


def test_jobs_show_events_and_logs_know_a_bag(vigil):
    result = vigil("map", "--name", "bag", "-k", "sh", "-c", "echo out {}; echo err {} >&2; exit {}", ":::", "0", "3")
    assert result.status == 1
    job = vigil("jobs", "--json").json()
    assert job["name"] == "bag" and job["state"] == "failed" and job["exit_status"] == 1
    events = vigil("events", "bag").out.decode()
    assert "job_start" in events and "task 2" in events and "exit status 3" in events
    assert "1 tasks succeeded, 1 failed" in events
    assert vigil.log().read_text() == "out 0\nout 3\n" and vigil.log(stream="err").read_text() == "err 0\nerr 3\n"
    assert "out 3" in vigil("logs", "bag").out.decode()
    assert vigil("show", "bag").status == 0 and vigil("timeline", "bag").status == 0


def test_ps_and_mem_see_tasks_that_run(vigil, tmp_path):
    process = vigil.start("map", "--name", "bag", "sh", "-c", "echo > {}.started; sleep 600", ":::", "a", "b", cwd=tmp_path)
    wait_for(lambda: (tmp_path / "a.started").exists() and (tmp_path / "b.started").exists())
    wait_for(lambda: vigil("ps", "bag").out.decode().count("sleep 600") >= 2, what="the tasks in vigil ps")
    memory = vigil("mem", "bag", "--json").json()
    assert len(memory["processes"]) >= 4
    process.terminate()
    process.communicate(timeout=30)
    assert vigil("jobs", "--json").json()["exit_status"] == 143


def test_why_tells_of_a_task_that_is_too_big(vigil):
    result = vigil("map", "--memory-limit", "100M", sys.executable, "-S", "-c", GROW, ":::", "300")
    assert result.status == 137
    report = vigil.why()
    assert report["kind"] == "memory_kill" and report["killer"] == "vigil" and report["cause"]["id"] == "task_too_big"
    assert report["victim"]["own_bytes"] > 90 << 20 and report["retry"]["next"] == "give_up"
    assert "task 1" in report["summary"] and report["cause"]["advice"]
    assert vigil("jobs", "--json").json()["memory_kills"] == 1


def test_a_dry_run_is_no_job(vigil):
    assert vigil("map", "--dry-run", "echo", ":::", "a b").out == b"echo 'a b'\n"
    assert vigil("jobs").out.count(b"\n") <= 1


def test_a_runner_that_was_killed_is_told_of(vigil, tmp_path):
    process = vigil.start("map", "--name", "bag", "sh", "-c", "echo > started; sleep 600", ":::", "x", cwd=tmp_path)
    wait_for((tmp_path / "started").exists)
    wait_for(lambda: b"bag" in vigil("jobs").out, what="the job in the store")
    process.kill()
    process.communicate(timeout=30)
    wait_for(lambda: vigil("map", "true", ":::", "x").status == 0 and b"lost" in vigil("jobs").out, what="the job to be told lost")
