"""vigil metrics: what Prometheus, node_exporter, Grafana and a receiver of OTLP get."""
import json
import os
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time

import pytest

from conftest import ROOT, wait_for
from gpukit import MACHINE, fake  # noqa: F401
from metricskit import (SHARE, STEPS, Exporter, Prometheus, check_logs, check_metrics, dashboard_exprs, labels_of, metrics, samples,
                        value)
from notifykit import free_port, server  # noqa: F401


def stepping(vigil, name="train", nproc=2):
    """A job whose ranks print steps, once its series has some of them. Its id."""
    vigil.start("run", "--name", name, "--nproc", str(nproc), "--", sys.executable, "-uc", STEPS)

    def known():
        found = samples(metrics(vigil))
        ranks = [x for x in labels_of(found, "vigil_rank_steps_total") if x["rank"] != "none"]
        timed = any(n == "vigil_step_duration_seconds_count" for n, _ in found)
        return len(ranks) == nproc and timed and ranks[0]["job_id"]
    return wait_for(known, 60, "steps in the metrics")


def killed(vigil, name="victim"):
    """A job that somebody ends by SIGKILL. Its id."""
    result = vigil("run", "--name", name, "--", "sh", "-c", "kill -9 $$")
    assert result.status == 137, result
    return vigil.why()["job"]


def promtool(*args, **kwargs):
    done = subprocess.run(["promtool", *map(str, args)], capture_output=True, text=True, timeout=60, check=False, **kwargs)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


# ---- what is printed ----

def test_promtool_finds_nothing_to_say(vigil):
    stepping(vigil)
    killed(vigil)
    for args in ([], ["--processes"]):
        said = promtool("check", "metrics", input=metrics(vigil, *args))
        assert said.strip() == "", said


def test_a_strict_reader_takes_both_forms_and_finds_the_same(vigil):
    job = stepping(vigil)
    killed(vigil)
    plain, full = samples(metrics(vigil)), samples(metrics(vigil, "--format", "openmetrics"), True)
    assert {k for k in plain if not k[0].endswith("_bucket")} == {k for k in full if not k[0].endswith("_bucket")}
    assert value(plain, "vigil_job_info", job_id=job) == 1
    assert value(plain, "vigil_hang_state", job_id=job, vigil_hang_state="well") == 1
    for rank in "01":
        assert value(plain, "vigil_rank_memory_bytes", job_id=job, rank=rank, memtype="resident") > 1 << 20
        assert value(plain, "vigil_rank_steps_total", job_id=job, rank=rank) > 0
        assert abs(value(plain, "vigil_last_progress_timestamp_seconds", job_id=job, rank=rank) - time.time()) < 60
    assert value(plain, "vigil_self_memory_bytes", job_id=job, process="supervisor") > 1 << 20
    assert value(plain, "vigil_self_memory_bytes", job_id=job, process="helpers") > 0
    assert 0 < value(plain, "vigil_guard_threshold_ratio", job_id=job) <= 1
    assert 0 < value(plain, "vigil_node_memory_used_ratio") < 1


def test_no_label_has_a_pid_or_free_text(vigil):
    result = vigil("run", "--name", 'a "b"\\{c}\n', "--", "sh", "-c", "kill -9 $$")
    assert result.status == 137
    stepping(vigil)
    found = samples(metrics(vigil))
    labels = {(k, v) for _, have in found for k, v in have}
    assert not {k for k, _ in labels} & {"pid", "command", "cwd", "text"}
    assert all(re.fullmatch(r"[A-Za-z0-9_.:@+-]*", v) for k, v in labels), labels
    assert value(found, "vigil_kills_total") == 1


def test_steps_are_counted_once_and_by_their_time(vigil):
    job = stepping(vigil)
    # what was read is kept: the second look of one process adds only what is new
    process = vigil.start("metrics", "--watch", "1s", "--format", "openmetrics")
    texts = [""]
    while len(texts) < 4:
        line = process.stdout.readline().decode()
        texts[-1] += line
        if line == "# EOF\n":
            texts.append("")
    process.kill()
    counts = [value(samples(t, True), "vigil_step_duration_seconds_count", job_id=job) for t in texts[:3]]
    assert counts == sorted(counts)
    whole = samples(metrics(vigil, "--format", "openmetrics"), True)
    assert value(whole, "vigil_step_duration_seconds_count", job_id=job) >= counts[-1]
    steps = sum(v for (n, have), v in whole.items() if n == "vigil_rank_steps_total" and ("job_id", job) in have)
    assert 0 < value(whole, "vigil_step_duration_seconds_count", job_id=job) <= steps
    mean = value(whole, "vigil_step_duration_seconds_sum", job_id=job) / value(whole, "vigil_step_duration_seconds_count", job_id=job)
    assert 0.05 < mean < 2, mean  # 0.1 s of sleep; the machine may be busy


def test_counters_go_on_when_jobs_are_forgotten(vigil):
    job = killed(vigil)
    text = metrics(vigil, "--format", "openmetrics")
    assert f'incident_id="{job}.' in next(x for x in text.splitlines() if x.startswith("vigil_kills_total{"))
    before = samples(text, True)
    assert value(before, "vigil_kills_total", policy="none", name="victim") == 1
    told = json.loads(vigil("why", job, "--json").out)["cause"]["id"]
    assert value(before, "vigil_kills_total", cause=told) == 1
    assert value(before, "vigil_incidents_total", kind="killed_by") == 1
    assert value(before, "vigil_jobs_ended_total", state="failed") == 1
    with sqlite3.connect(vigil.state / "vigil.db") as db:
        db.execute("UPDATE job SET started_unix_ms=1, ended_unix_ms=2")
    assert vigil("jobs", "--forget", "1d").status == 0
    after = samples(metrics(vigil, "--format", "openmetrics"), True)
    assert not labels_of(after, "vigil_job_info")
    kept = ("vigil_kills_total", "vigil_incidents_total", "vigil_jobs_ended_total", "vigil_retries_total")
    assert {k: v for k, v in after.items() if k[0] in kept} == {k: v for k, v in before.items() if k[0] in kept}
    killed(vigil)
    assert value(samples(metrics(vigil)), "vigil_kills_total", name="victim") == 2


def test_a_job_that_its_user_stopped_has_not_failed(vigil):
    run = vigil.start("run", "--name", "asked", "--", "sh", "-c", "echo up; exec sleep 100")
    assert run.stdout.readline() == b"up\n"
    run.send_signal(signal.SIGTERM)
    assert run.wait(60) == 143
    for _ in range(2):
        found = samples(metrics(vigil))
        assert value(found, "vigil_jobs_ended_total", state="stopped") == 1
        assert value(found, "vigil_jobs_ended_total", state="failed") == 0
        with sqlite3.connect(vigil.state / "vigil.db") as db:
            db.execute("UPDATE job SET started_unix_ms=1, ended_unix_ms=2")
        if labels_of(found, "vigil_job_info"):
            assert value(found, "vigil_job_state", vigil_job_state="stopped", job_id=labels_of(found, "vigil_job_info")[0]["job_id"]) == 1
            assert vigil("jobs", "--forget", "1d").status == 0


def test_retries_are_counted_by_what_became_of_them(vigil):
    result = vigil("run", "--name", "again", "--retries", "2", "--backoff", "0.1s", "--retry-on", "any", "--", "sh", "-c", "kill -9 $$")
    assert result.status == 137, result
    reports = sqlite3.connect(vigil.state / "vigil.db").execute("SELECT json FROM incident").fetchall()
    said = [json.loads(j).get("retry", {}).get("next") for j, in reports]
    found = samples(metrics(vigil))
    assert said.count("retry") == 2, said
    assert value(found, "vigil_retries_total", result="retried") == said.count("retry")
    assert value(found, "vigil_retries_total", result="given_up") == said.count("give_up")


def tell(vigil, job, kind, incident="", at=None):
    with sqlite3.connect(vigil.state / "vigil.db", timeout=20) as db:
        db.execute("INSERT INTO event(time_unix_ms,job,attempt,kind,text,incident) VALUES(?,?,0,?,'',?)",
                   (int((at or time.time()) * 1000), job, kind, incident))


def hang_state(vigil, job):
    on = [x["vigil_hang_state"] for x in labels_of({k: v for k, v in samples(metrics(vigil)).items() if v == 1}, "vigil_hang_state")
          if x["job_id"] == job]
    assert len(on) == 1, on
    return on[0]


def test_the_hang_state_follows_the_events(vigil):
    vigil.start("run", "--name", "still", "--", "sleep", "600")
    # its rank is known from the first sample on
    job = wait_for(lambda: next((x["job_id"] for x in labels_of(samples(metrics(vigil)), "vigil_rank_memory_bytes")), None), 30)
    assert hang_state(vigil, job) == "well"
    for kind, state in (("suspected", "suspected"), ("hang", "hung"), ("hang_resolved", "well"), ("standstill", "standstill"),
                        ("slowdown", "slowdown"), ("attempt_start", "well")):
        tell(vigil, job, kind)
        assert hang_state(vigil, job) == state
    tell(vigil, job, "suspected", at=time.time() - 3600)
    assert hang_state(vigil, job) == "well", "a suspicion of which nothing more was heard goes by itself"
    with sqlite3.connect(vigil.state / "vigil.db", timeout=20) as db:
        db.execute("INSERT INTO incident(id,job,attempt,kind,time_unix_ms,victim_pid,summary,json) VALUES('s.1',?,0,'straggler',1,0,'',?)",
                   (job, json.dumps({"hang": {"slower_ratio": 2.5}, "culprit_ranks": [-1]})))
    tell(vigil, job, "straggler", "s.1")
    assert hang_state(vigil, job) == "straggler"
    assert value(samples(metrics(vigil)), "vigil_straggler_ratio", job_id=job) == 2.5


def test_a_job_whose_vigil_is_gone_is_lost(vigil):
    job = stepping(vigil, nproc=1)
    with sqlite3.connect(vigil.state / "vigil.db", timeout=20) as db:
        db.execute("UPDATE job SET supervisor_start_ticks=supervisor_start_ticks+1")  # another process has its number
    found = samples(metrics(vigil))
    assert value(found, "vigil_job_state", job_id=job, vigil_job_state="lost") == 1
    assert value(found, "vigil_jobs", state="lost") == 1
    assert not labels_of(found, "vigil_hang_state")
    os.utime(vigil.state / "jobs" / job / "series", (1e9, 1e9))
    with sqlite3.connect(vigil.state / "vigil.db", timeout=20) as db:
        db.execute("UPDATE job SET started_unix_ms=1000")
    # the vigil that lives goes on writing: what is old is read before its next look, or told again
    wait_for(lambda: not labels_of(samples(metrics(vigil)), "vigil_job_info") or
             os.utime(vigil.state / "jobs" / job / "series", (1e9, 1e9)), 30, "the lost job to be too old")


def test_steps_end_a_suspicion(vigil):
    job = stepping(vigil, nproc=1)
    tell(vigil, job, "suspected", at=time.time() - 1)
    wait_for(lambda: hang_state(vigil, job) == "well", 30, "the next step to be seen")


LOADS = """
import mmap, sys, time
held = []
for name in sys.argv[1:]:
    with open(name, "rb") as f:
        held.append(mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ))
for i in range(100000):
    print(f"step {i}/100000", flush=True)
    sum(range(20000))
    time.sleep(0.05)
"""


def test_the_framework_of_a_job_and_its_profiles_are_told(vigil, tmp_path):
    """A framework is known by a library that is mapped, a profile by the command that made it."""
    libraries = [tmp_path / "libtorch_cpu.so", tmp_path / "_raylet.so"]
    for library in libraries:
        library.write_bytes(b"x" * 8192)
    vigil.start("run", "--name", "loads", "--", sys.executable, "-c", LOADS, *libraries)

    def told():
        return next((x for x in labels_of(samples(metrics(vigil)), "vigil_job_info") if "framework" in x), None)
    info = wait_for(told, 60, "the framework")
    assert info["framework"] == "pytorch+ray" and info["job_name"] == "loads"
    job = info["job_id"]
    for _ in range(2):
        result = vigil("flame", job, "-d", "1", "-f", "folded", "-o", tmp_path / "out")
        assert result.status == 0, result
    found = samples(metrics(vigil))
    assert value(found, "vigil_profiles_total", job_id=job, kind="cpu") == 2
    assert 1.5 < value(found, "vigil_profile_seconds_total", job_id=job, kind="cpu") < 30
    assert not [x for x in labels_of(found, "vigil_profiles_total") if x["kind"] != "cpu"]
    assert vigil("heap", job, "-w", "growth", "-d", "0.5", "-o", tmp_path / "grown").status == 0
    assert value(samples(metrics(vigil)), "vigil_profiles_total", job_id=job, kind="growth") == 1
    promtool("check", "metrics", input=metrics(vigil))


def test_processes_have_pids_only_when_asked_for(vigil):
    job = stepping(vigil, nproc=1)
    found = samples(metrics(vigil, "--processes"))
    mine = [x for x in labels_of(found, "vigil_process_memory_bytes") if x["job_id"] == job]
    assert {"own", "resident", "shared", "swap"} <= {x["memtype"] for x in mine}
    assert all(os.path.exists(f"/proc/{x['pid']}") for x in mine)
    assert value(found, "vigil_processes_left_out") == 0


def test_gpus_have_the_names_and_units_of_dcgm(vigil, fake):
    fake(MACHINE)
    found = samples(metrics(vigil, "--gpus", env=fake.env))
    assert value(found, "DCGM_FI_DEV_GPU_UTIL", gpu="0", UUID="GPU-aaaa", modelName="NVIDIA H100 80GB HBM3") == 97
    assert value(found, "DCGM_FI_DEV_FB_USED", gpu="0") == 1024
    assert value(found, "DCGM_FI_DEV_POWER_USAGE", gpu="0") == 150
    assert value(found, "DCGM_FI_DEV_FB_FREE", gpu="0") == 80 * 1024 - 1024 - value(found, "DCGM_FI_DEV_FB_RESERVED", gpu="0")
    assert value(found, "DCGM_FI_DEV_GPU_UTIL", gpu="1") == 0
    promtool("check", "metrics", input=metrics(vigil, env=fake.env))
    assert "DCGM" not in metrics(vigil, env=fake.env)
    samples(metrics(vigil, "--gpus", "--format", "openmetrics", env=fake.env), True)


def test_without_a_store_the_node_is_told(vigil):
    found = samples(metrics(vigil))
    assert 0 < value(found, "vigil_node_memory_used_ratio") < 1
    assert not labels_of(found, "vigil_job_info") and not labels_of(found, "vigil_jobs")


def test_what_is_wrong_is_said_in_one_sentence(vigil, tmp_path):
    (tmp_path / "file").write_text("")
    for args, status, words in ((["--watch", "0.1s"], 2, "at least 1s"), (["--insecure"], 2, "--otlp"), (["word"], 2, ""),
                                (["--format", "xml"], 2, "prometheus"), (["--otlp", "http://10.0.0.1"], 2, "in the clear"),
                                (["--textfile", "/nowhere/at/all"], 1, "No such file"), (["--textfile", tmp_path / "file"], 1, "no folder")):
        result = vigil("metrics", *args)
        assert result.status == status and words in result.text and len(result.text.splitlines()) == 1, result
        assert result.out == b""


def test_a_series_and_a_store_of_rubbish_crash_nothing(vigil):
    job = stepping(vigil, nproc=1)
    series = vigil.state / "jobs" / job / "series"
    for text in (b"", b"vigilTS1", b"vigilTS1" + os.urandom(100000), os.urandom(5000)):
        wrong = series.with_name("wrong")
        wrong.write_bytes(text)
        wrong.rename(series)
        samples(metrics(vigil))
    with sqlite3.connect(vigil.state / "vigil.db", timeout=20) as db:
        for n, text in enumerate(("", "{", '{"killer": 5, "policy": [], "retry": "x"}', '{"killer": {"a": 1}}', "x" * 100000)):
            db.execute("INSERT INTO incident(id,job,attempt,kind,time_unix_ms,victim_pid,summary,json) VALUES(?,?,0,'memory_kill',?,0,'',?)",
                       (f"r.{n}", job, n, text))
    found = samples(metrics(vigil))
    assert value(found, "vigil_incidents_total", kind="memory_kill") == 5
    assert sum(v for (n, _), v in found.items() if n == "vigil_kills_total") == 5
    with sqlite3.connect(vigil.state / "vigil.db", timeout=20) as db:
        db.execute("UPDATE incident SET kind=x'ff00'")
    told = vigil("metrics")
    assert told.status == 1 and "the store cannot be read" in told.text, told


def test_too_many_names_are_pooled_and_none_is_lost(vigil):
    killed(vigil)
    with sqlite3.connect(vigil.state / "vigil.db", timeout=20) as db:
        for n in range(300):
            db.execute("INSERT INTO job(id,name,command,cwd,node,user,uid,adopted,pid,supervisor_pid,supervisor_start_ticks,nproc,attempt,max_retries,"
                       "state,started_unix_ms,ended_unix_ms,peak_bytes,memory_kills,other_deaths,last_incident,log_dir,cgroup,limit_bytes) "
                       "VALUES(?,?,'','','','',0,0,0,0,0,0,0,0,'failed',1,2,0,0,0,'','','',0)", (f"j{n}", f"name{n}"))
            db.execute("INSERT INTO incident(id,job,attempt,kind,time_unix_ms,victim_pid,summary,json) VALUES(?,?,0,'memory_kill',?,0,'',?)",
                       (f"j{n}.1", f"j{n}", n + 1, '{"killer":"vigil","policy":{"name":"large"}}'))
    found = samples(metrics(vigil))
    kills = [v for (n, _), v in found.items() if n == "vigil_kills_total"]
    assert len(kills) == 201 and sum(kills) == 301
    assert value(found, "vigil_kills_total", name="other") == 101
    assert value(found, "vigil_kills_total", name="name0") == 1


# ---- rules and dashboard ----

def test_each_alert_fires_and_is_quiet(tmp_path):
    for name in ("vigil-alerts.yml", "vigil-recording.yml"):
        promtool("check", "rules", shutil.copy(SHARE / "prometheus" / name, tmp_path))
    tests = (ROOT / "tests/metrics/rules.test.yml").read_text()
    (tmp_path / "rules.test.yml").write_text(tests)
    promtool("test", "rules", "rules.test.yml", cwd=tmp_path)
    alerts = re.findall(r"- alert: (\w+)", (SHARE / "prometheus/vigil-alerts.yml").read_text())
    assert len(alerts) >= 13
    for alert in alerts:
        assert f"name: {alert} fires" in tests and f"name: {alert} is quiet" in tests, alert


def test_prometheus_scrapes_it_and_answers_every_question_of_the_dashboard(vigil, fake, tmp_path):
    fake(MACHINE)
    job = stepping(vigil)
    killed(vigil)
    exporter = Exporter(vigil, fake.env, "--gpus")
    prometheus = Prometheus(tmp_path, exporter.address)
    try:
        wait_for(lambda: len(prometheus.query("vigil_rank_steps_total[1m]") or []) > 0 and exporter.scrapes >= 4, 60, "four scrapes")
        killed(vigil)
        wait_for(lambda: prometheus.query("increase(vigil_kills_total[10m]) > 0"), 30, "the second kill")
        target, = prometheus.get("/api/v1/targets")["data"]["activeTargets"]
        assert target["health"] == "up" and target["lastError"] == ""
        # of these the job gives none: it is not slow, has no limit and does not hang
        empty = {"Slower than the others", "Hung", "Whether jobs move", "Disks"}
        for title, expr in dashboard_exprs():
            if title in empty or "limit_bytes" in expr:
                prometheus.query(expr)
            else:
                wait_for(lambda expr=expr: prometheus.query(expr), 40, f"{title}: {expr}")
        rules = [r for g in prometheus.get("/api/v1/rules")["data"]["groups"] for r in g["rules"]]
        assert all(r["health"] == "ok" for r in rules), [r for r in rules if r["health"] != "ok"]
        for name in ("ray_component_rss_mb", "ray_node_gpus_utilization", "ray_memory_manager_worker_eviction_total"):
            wait_for(lambda name=name: prometheus.query(name), 30, name)
        got = prometheus.get("/api/v1/query_exemplars", query="vigil_kills_total", start=time.time() - 3600, end=time.time() + 60)
        assert any("incident_id" in e["labels"] for s in got["data"] for e in s["exemplars"]), got
        assert prometheus.query(f'vigil_job_info{{job_id="{job}"}}')[0]["metric"]["job_name"] == "train"
    finally:
        prometheus.stop()
        exporter.stop()


def test_the_dashboard_is_one_that_grafana_takes():
    board = json.loads((SHARE / "grafana/vigil.json").read_text())
    assert board["uid"] == "vigil-jobs" and board["schemaVersion"] >= 37 and board["refresh"] == "15s"
    assert [v["name"] for v in board["templating"]["list"]] == ["datasource", "node", "job", "rank"]
    assert [p["title"] for p in board["panels"] if p["type"] == "row"] == ["Who will run out of memory?", "Is it hung?", "Who is slow?"]
    ids = [p["id"] for p in board["panels"]]
    assert len(ids) == len(set(ids))
    taken = set()
    for p in board["panels"]:
        g = p["gridPos"]
        cells = {(x, y) for x in range(g["x"], g["x"] + g["w"]) for y in range(g["y"], g["y"] + g["h"])}
        assert g["x"] + g["w"] <= 24 and not cells & taken, p["title"]
        taken |= cells
        assert p["type"] == "row" or p["datasource"]["uid"] == "${datasource}"


# ---- the text file ----

def test_the_text_file_is_whole_and_for_all_to_read(vigil, tmp_path):
    folder = tmp_path / "textfile"
    folder.mkdir()
    result = vigil("metrics", "--textfile", folder, prefix=("sh", "-c", 'umask 077; exec "$@"', "-"))
    assert result.status == 0 and result.out == b"", result
    assert os.listdir(folder) == ["vigil.prom"]
    assert stat.S_IMODE((folder / "vigil.prom").stat().st_mode) == 0o644
    samples((folder / "vigil.prom").read_text())
    first = (folder / "vigil.prom").stat().st_ino
    process = vigil.start("metrics", "--textfile", folder, "--watch", "1s")
    wait_for(lambda: (folder / "vigil.prom").stat().st_ino != first, 30, "the second file")
    process.kill()


def test_node_exporter_reads_the_text_file(vigil, tmp_path):
    import urllib.request
    assert vigil("metrics", "--textfile", tmp_path).status == 0
    port = free_port()
    exporter = subprocess.Popen(["prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{port}", "--collector.disable-defaults",
                                 "--collector.textfile", f"--collector.textfile.directory={tmp_path}"], stderr=subprocess.DEVNULL)

    def scraped():
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read().decode()
        except OSError:
            return None
    try:
        found = samples(wait_for(scraped, 30, "node_exporter"))
    finally:
        exporter.kill()
        exporter.wait(10)
    assert value(found, "node_textfile_scrape_error") == 0
    assert 0 < value(found, "vigil_node_memory_used_ratio") < 1


def test_a_full_disk_leaves_the_old_text_file(vigil, tiny_disk):
    folder = tiny_disk(16)
    (folder / "vigil.prom").write_text("# old\n")
    with open(folder / "filler", "wb", buffering=0) as f:
        try:
            while f.write(b"x" * 512):
                pass
        except OSError:
            pass
    result = vigil("metrics", "--textfile", folder)
    assert result.status == 1 and "No space left" in result.text and "old file stays" in result.text, result
    assert (folder / "vigil.prom").read_text() == "# old\n"
    os.unlink(folder / "filler")
    assert vigil("metrics", "--textfile", folder).status == 0
    assert sorted(os.listdir(folder)) == ["vigil.prom"]


@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed")
def test_links_of_another_user_lead_nowhere(vigil, tmp_path):
    os.chmod(tmp_path, 0o755)
    folder, treasure = tmp_path / "textfile", tmp_path / "treasure"
    folder.mkdir()
    treasure.write_text("root's\n")
    os.chown(folder, 65534, 65534)
    for name in ("vigil.prom", "vigil.prom.new"):
        os.symlink(treasure, folder / name)
        os.lchown(folder / name, 65534, 65534)
    for path in tmp_path.parents:
        if path != path.parent:
            os.chmod(path, os.stat(path).st_mode | 0o011)
    result = vigil("metrics", "--textfile", folder)
    assert treasure.read_text() == "root's\n"
    if result.status == 0:
        assert not (folder / "vigil.prom").is_symlink() and (folder / "vigil.prom").stat().st_uid == 65534
    other, link = tmp_path / "other", tmp_path / "link"
    other.mkdir()
    os.symlink(other, link)
    os.lchown(link, 65534, 65534)
    result = vigil("metrics", "--textfile", link)
    assert result.status != 0 and len(result.text.splitlines()) == 1 and not os.listdir(other), result


# ---- OTLP ----

def posts(server, path):
    return [json.loads(body) for p, _, body, _ in list(server.got) if p == path]


def test_a_receiver_gets_metrics_and_each_event_once(vigil, server):
    job = killed(vigil)
    assert vigil("metrics", "--otlp", server.url + "/").status == 0
    assert all(h["Content-Type"] == "application/json" for _, h, _, _ in server.got)
    found = check_metrics(posts(server, "/v1/metrics")[0])
    assert "vigil_node_memory_used_ratio" in found and "vigil_kills" in found
    records = check_logs(posts(server, "/v1/logs")[0])
    events = [json.loads(line) for line in vigil("events", "--json").out.splitlines()]
    assert [r["attributes"]["vigil.seq"] for r in records] == [str(e["seq"]) for e in events]
    assert [r["body"]["stringValue"] for r in records] == [e["text"] for e in events]
    assert {r["attributes"]["vigil.job_id"] for r in records} == {job}
    assert any(r["severityText"] == "ERROR" for r in records)
    assert vigil("metrics", "--otlp", server.url).status == 0
    assert len(posts(server, "/v1/logs")) == 1, "nothing new: nothing is sent"
    killed(vigil, "second")
    assert vigil("metrics", "--otlp", server.url).status == 0
    seqs = [r["attributes"]["vigil.seq"] for p in posts(server, "/v1/logs") for r in check_logs(p)]
    events = [json.loads(line) for line in vigil("events", "--json").out.splitlines()]
    assert seqs == [str(e["seq"]) for e in events]


def test_a_new_store_counts_anew(vigil, server):
    """One that was deleted, or moved aside because it was damaged: its numbers begin with 1 again."""
    killed(vigil)
    watching = vigil.start("metrics", "--otlp", server.url, "--watch", "1s")
    wait_for(lambda: posts(server, "/v1/logs"), 30, "the events")
    for path in vigil.state.glob("vigil.db*"):
        path.unlink()
    server.got.clear()
    job = killed(vigil, "second")

    def told():
        return [r["attributes"] for p in posts(server, "/v1/logs") for r in check_logs(p) if r["attributes"]["vigil.job_id"] == job]
    wait_for(lambda: any(a["event.name"] == "job_end" for a in told()), 30, "the events of the new store")
    watching.kill()
    events = [json.loads(line) for line in vigil("events", "--json").out.splitlines()]
    assert [a["vigil.seq"] for a in told()] == [str(e["seq"]) for e in events]
    server.got.clear()
    assert vigil("metrics", "--otlp", server.url).status == 0
    assert not posts(server, "/v1/logs")


def test_the_token_comes_from_a_file(vigil, server, tmp_path):
    (tmp_path / "token").write_text(" s3cret-word\n")
    assert vigil("metrics", "--otlp", server.url, "--otlp-token", tmp_path / "token").status == 0
    assert {h["Authorization"] for _, h, _, _ in server.got} == {"Bearer s3cret-word"}
    for text in ("", "two words", "word\r\nX-Evil: 1", "x" * 600, "\x00"):
        (tmp_path / "token").write_text(text)
        result = vigil("metrics", "--otlp", server.url, "--otlp-token", tmp_path / "token")
        assert result.status == 2 and "holds no token" in result.text and len(result.text.splitlines()) == 1, result
    assert vigil("metrics", "--otlp", server.url, "--otlp-token", tmp_path / "absent").status == 2
    assert vigil("metrics", "--otlp-token", tmp_path / "token").status == 2


def test_one_that_watches_follows_the_hang_state(vigil):
    vigil.start("run", "--name", "still", "--", "sleep", "600")
    job = wait_for(lambda: next((x["job_id"] for x in labels_of(samples(metrics(vigil)), "vigil_job_info")), None), 30)
    process = vigil.start("metrics", "--watch", "1s")

    def wait_line(state):
        for _ in range(100000):
            line = process.stdout.readline().decode()
            if line == f'vigil_hang_state{{job_id="{job}",vigil_hang_state="{state}"}} 1\n':
                return
        pytest.fail(f"never {state}")
    for kind, state in (("suspected", "suspected"), ("hang", "hung"), ("hang_resolved", "well")):
        tell(vigil, job, kind)
        wait_line(state)
    process.kill()


def test_a_job_goes_through_the_strict_reader(vigil, server):
    stepping(vigil)
    assert vigil("metrics", "--otlp", server.url, "--processes").status == 0
    found = check_metrics(posts(server, "/v1/metrics")[0])
    assert "vigil_step_duration_seconds" in found and "vigil_job_info" in found and "vigil_process_memory_bytes" in found


@pytest.mark.parametrize("first", [(429, {"Retry-After": "1"}, b""), 502, 503, 504, "close", "half"])
def test_a_receiver_that_is_busy_is_tried_again(vigil, server, first):
    server.behave = lambda number: first if number == 1 else 200
    killed(vigil)
    began = time.monotonic()
    result = vigil("metrics", "--otlp", server.url)
    assert result.status == 0, result
    assert time.monotonic() - began >= 1
    assert len(posts(server, "/v1/metrics")) == 2 and len(posts(server, "/v1/logs")) == 1


def test_a_receiver_that_refuses_is_told_of_at_once(vigil, server):
    server.behave = lambda number: (403, {}, b"no entry\n")
    killed(vigil)
    result = vigil("metrics", "--otlp", server.url)
    assert result.status == 1 and "403" in result.text and "no entry" in result.text and len(server.got) == 1, result
    server.behave = lambda number: 200
    assert vigil("metrics", "--otlp", server.url).status == 0
    assert posts(server, "/v1/logs"), "what was refused by a wrong setting is not lost"


def test_what_the_receiver_cannot_read_is_passed_over_and_said(vigil, server):
    killed(vigil)
    server.behave = lambda number: 400 if server.got[-1][0] == "/v1/logs" else 200
    result = vigil("metrics", "--otlp", server.url)
    assert result.status == 1 and "400" in result.text, result
    server.behave = lambda number: 200
    assert vigil("metrics", "--otlp", server.url).status == 0
    assert len(posts(server, "/v1/logs")) == 1


def test_what_a_receiver_does_not_want_is_counted(vigil, server):
    server.behave = lambda number: (200, {}, b'{"partialSuccess": {"rejectedDataPoints": "7", "errorMessage": "old"}}')
    result = vigil("metrics", "--otlp", server.url)
    assert result.status == 0 and "7 data points" in result.text, result


def test_a_receiver_that_never_answers_ends_by_itself(vigil, server):
    server.behave = lambda number: "hang"
    began = time.monotonic()
    result = vigil("metrics", "--otlp", server.url, timeout=90)
    assert result.status == 5 and len(result.text.splitlines()) == 1, result
    assert time.monotonic() - began < 60


def test_nobody_there_has_the_status_of_an_engine_that_is_unreachable(vigil):
    result = vigil("metrics", "--otlp", f"http://127.0.0.1:{free_port()}", timeout=90)
    assert result.status == 5 and "did not take it" in result.text and len(result.text.splitlines()) == 1, result


def test_nobody_there_is_said_once_while_it_lasts(vigil):
    process = vigil.start("metrics", "--otlp", f"http://127.0.0.1:{free_port()}", "--watch", "1s")
    line = process.stderr.readline().decode()
    assert "did not take it" in line, line
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == -signal.SIGTERM


def test_a_proxy_sees_nothing_of_what_stays_on_this_machine(vigil, server):
    env = {"http_proxy": f"http://127.0.0.1:{free_port()}", "all_proxy": f"http://127.0.0.1:{free_port()}"}
    assert vigil("metrics", "--otlp", server.url, env=env).status == 0
    assert posts(server, "/v1/metrics")
