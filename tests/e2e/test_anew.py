"""Children that fail and are started anew for ever, by no rank's launcher; and programs that look like it and are well."""
import os
import sys
import time

from hangkit import events, looks, need_bpf, shown

LOAD = "raise ValueError('bad shard 3')"
ASKS = "import socket; socket.create_connection(('127.0.0.1', 9), 1)"
RANKS = '''
import os, subprocess, sys, time
rank, ends = int(os.environ["RANK"]), sys.argv[1:]
for step in range(100000):
    time.sleep(0.3)
    print(f"step {step} loss 0.5", flush=True)
    while step == 15 and rank == 1:
        subprocess.run(["sh", "-c", "kill -ABRT $$"])
        time.sleep(0.2)
    if step == 15:
        os.read(os.open(ends[0], os.O_RDWR), 1)
'''
STEPS = '''
import subprocess, sys, time
for step in range(100000):
    subprocess.run([sys.executable, "-c", "raise ValueError('no device')"], stderr=subprocess.DEVNULL)
    time.sleep(0.2)
    print(f"step {step} loss 0.5", flush=True)
'''
BESIDE = '''
import subprocess, sys, threading, time
def restart():
    while True:
        subprocess.run([sys.executable, "-c", "raise ValueError('no device')"])
        time.sleep(0.3)
threading.Thread(target=restart, daemon=True).start()
while True:
    sum(range(100000))
'''
BACK_OFF = f'''
n=0; until [ $n -ge 12 ]; do sh -c "echo ValueError: bad shard; exit 1" >&2; n=$((n+1)); sleep 0.4; done; exec sleep 1000
'''
WELL = {
    "a service that does not answer yet": ["bash", "-c", f'until {sys.executable} -c "{ASKS}"; do sleep 0.5; done'],
    "a question that is answered by a status": ["bash", "-c", "until grep -q ready /dev/null; do sleep 0.3; done"],
    "probes of which some fail": ["bash", "-c", f'while :; do {sys.executable} -c "{LOAD}"; {sys.executable} -c 0; sleep 0.2; done'],
    "steps go on": [sys.executable, "-u", "-c", STEPS],
    "a helper beside work": [sys.executable, "-c", BESIDE],
    "retries that end": ["bash", "-c", BACK_OFF],
}


def test_a_loader_that_fails_each_time_is_told_with_its_command_and_last_words(vigil):
    need_bpf(vigil)
    result = vigil("run", "--hang-after", "10s", "--on-hang", "kill", "--", "bash", "-c",
                   f'until {sys.executable} -c "{LOAD}"; do sleep 0.3; done', timeout=90)
    assert result.status == 124, result
    report = vigil.why()
    assert looks(report) == ("hang", "child_fails", [])
    assert report["cause"]["confidence"] == "medium"
    text = report["cause"]["text"]
    assert "(bash) starts" in text and "ended with status 1 each time" in text, text
    assert LOAD in text and "The last line each time: ValueError: bad shard 3" in text, text
    assert "anew each" in shown(report)


def test_the_rank_whose_child_dies_each_time_is_named_and_the_job_lives(vigil, tmp_path):
    need_bpf(vigil)
    (tmp_path / "ranks.py").write_text(RANKS)
    os.mkfifo(tmp_path / "ends")
    p = vigil.start("run", "--nproc", 2, "--hang-after", "10s", "--on-hang", "kill", "--on-hang-needs", "proof", "--", sys.executable, "-u",
                    tmp_path / "ranks.py", tmp_path / "ends")
    until = time.monotonic() + 60
    while not events(vigil, "hang") and time.monotonic() < until:
        time.sleep(0.5)
    report = vigil.why()
    assert looks(report) == ("hang", "child_fails", [1]), report
    assert "by signal 6 each time" in report["cause"]["text"]
    assert p.poll() is None
    p.terminate()
    vigil.finish(p)


def test_programs_that_look_alike_and_are_well_are_left_alone(vigil):
    """All at a time: what is looked at is that nothing is told for much longer than it takes where it is no question."""
    jobs = {what: vigil.start("run", "--hang-after", "10s", "--", *command) for what, command in WELL.items()}
    time.sleep(32)
    assert [what for what, job in jobs.items() if job.poll() is not None] == []
    told = [vigil.why(e["incident"])["cause"]["text"] for e in events(vigil) if e["kind"] == "hang"]
    for job in jobs.values():
        job.terminate()
    for job in jobs.values():
        vigil.finish(job)
    assert told == []
