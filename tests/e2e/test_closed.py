"""Jobs that take nothing in, or nothing but of each other: who naps, and has nothing new to look at, is told early and low; who
reads a file each time is left alone, as somebody may still write it."""
import sys
import threading
import time

import pytest

from hangkit import events, looks, need_bpf

# A helper tries a record of the trainer again and again: one that it has, or one that somebody outside is still to write.
TRIES = """
import json, multiprocessing, sys, time
path, what = sys.argv[1], sys.argv[2]
def parse(step):
    if step != 60:
        return [step]
    if what == "broken":
        raise ValueError("no end of record %d" % step)
    with open(path) as f:
        return json.load(f)
def work(pipe):
    for step in range(90):
        while True:
            try:
                pipe.send(parse(step))
                break
            except ValueError:
                time.sleep(0.5)
def train(pipe):
    for step in range(90):
        pipe.recv()
        time.sleep(0.15)
        print("step %d loss 0.5" % step, flush=True)
if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    context.Process(target=work, args=(theirs,), daemon=True).start()
    theirs.close()
    train(ours)
"""


@pytest.mark.slow
def test_a_helper_that_fails_alike_and_takes_nothing_in_is_told_early(vigil, tmp_path):
    need_bpf(vigil)
    p = vigil.start("run", "--", sys.executable, "-c", TRIES, tmp_path / "record", "broken")
    end = time.monotonic() + 110
    while time.monotonic() < end and not events(vigil, "hang"):
        time.sleep(1)
    p.terminate()
    result = vigil.finish(p)
    report = vigil.why()
    assert looks(report)[:2] == ("hang", "rank_sleeps"), result
    assert report["cause"]["confidence"] == "low" and report["hang"]["standstill_ms"] < 75_000, report
    assert "no end of record 60" in report["cause"]["text"] and "takes in anything" in report["cause"]["text"], report


@pytest.mark.slow
def test_a_helper_that_reads_what_may_still_come_is_left_alone(vigil, tmp_path):
    need_bpf(vigil)
    record = tmp_path / "record"
    record.write_text("[1, 2")
    threading.Timer(70, lambda: record.write_text("[1, 2]")).start()
    result = vigil("run", "--on-hang", "kill", "--on-hang-needs", "medium", "--", sys.executable, "-c", TRIES, record, "late",
                   timeout=150)
    assert result.status == 0 and not events(vigil, "hang"), result


# A trainer and its helper look at numbers that they share, between naps: each for the other one, or until a time of its own.
NAPS = """
import multiprocessing, sys, time
def pause(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.5)
def until(number, least):
    while number.value < least:
        time.sleep(0.05)
def work(asked, done, seen, what):
    for step in range(1, 91):
        until(asked, step)
        if step == 60 and what == "lost":
            until(seen, step)
        elif step == 60:
            pause(70)
        done.value = step
if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    asked, done, seen = context.Value("i"), context.Value("i"), context.Value("i")
    context.Process(target=work, args=(asked, done, seen, sys.argv[1]), daemon=True).start()
    for step in range(1, 91):
        asked.value = step
        until(done, step)
        seen.value = step
        time.sleep(0.15)
        print("step %d loss 0.5" % step, flush=True)
"""

# Two ranks ask a server of the job again and again: for what the other one is to say, or for what comes after a lease.
ASKS = """
import os, socket, socketserver, subprocess, sys, threading, time
def serve(what):
    said, since, lock = set(), {}, threading.Lock()
    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            for line in self.rfile:
                word, key = line.split()
                with lock:
                    if word == b"say":
                        said.add(key)
                    begin = since.setdefault(key, time.monotonic())
                    free = what == "lease" and time.monotonic() > begin + 80
                    self.wfile.write(b"yes\\n" if key in said or free else b"no\\n")
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    server.serve_forever()
def train(rank, port):
    stream = socket.create_connection(("127.0.0.1", port)).makefile("rwb")
    def ask(word, key):
        stream.write(b"%s %s\\n" % (word, key))
        stream.flush()
        return stream.readline() == b"yes\\n"
    for step in range(90):
        if step != 60 or rank == 1:
            ask(b"say", b"%d/%d" % (step, rank))
        while not ask(b"ask", b"%d/%d" % (step, 1 - rank)):
            time.sleep(0.3)
        time.sleep(0.15)
        if rank == 0:
            print("step %d loss 0.5" % step, flush=True)
        while step == 60 and rank == 0 and not ask(b"ask", b"more"):
            time.sleep(0.3)
if sys.argv[1] == "serve":
    serve(sys.argv[2])
elif sys.argv[1] == "rank":
    train(int(os.environ["RANK"]), int(sys.argv[2]))
else:
    me = [sys.executable, "-c", sys.argv[2]]
    server = subprocess.Popen(me + ["serve", sys.argv[1]], stdout=subprocess.PIPE)
    port = server.stdout.readline().strip().decode()
    ranks = [subprocess.Popen(me + ["rank", port], env={**os.environ, "RANK": str(r), "WORLD_SIZE": "2"}) for r in range(2)]
    for r in ranks:
        r.wait()
    server.kill()
"""


def told(vigil, seconds, *argv):
    """The report of the first hang, or of nothing after so many seconds."""
    p = vigil.start("run", "--", sys.executable, "-c", *argv)
    end = time.monotonic() + seconds
    while time.monotonic() < end and not events(vigil, "hang"):
        time.sleep(1)
    p.terminate()
    result = vigil.finish(p)
    assert events(vigil, "hang"), result
    return vigil.why()


@pytest.mark.slow
def test_two_that_nap_for_each_other_are_told_early(vigil):
    need_bpf(vigil)
    report = told(vigil, 110, NAPS, "lost")
    assert looks(report)[:2] == ("hang", "poll_loop"), report
    assert report["cause"]["confidence"] == "low" and report["hang"]["standstill_ms"] < 75_000, report


@pytest.mark.slow
def test_a_nap_up_to_a_time_of_its_own_is_left_alone(vigil):
    need_bpf(vigil)
    result = vigil("run", "--on-hang", "kill", "--on-hang-needs", "medium", "--", sys.executable, "-c", NAPS, "pause", timeout=150)
    assert result.status == 0 and not events(vigil, "hang"), result


@pytest.mark.slow
def test_ranks_that_ask_their_server_in_vain_are_told(vigil):
    need_bpf(vigil)
    report = told(vigil, 210, ASKS, "lost", ASKS)
    assert looks(report)[:2] == ("hang", "poll_loop"), report
    assert report["cause"]["confidence"] == "low" and 110_000 < report["hang"]["standstill_ms"] < 180_000, report


@pytest.mark.slow
def test_ranks_that_ask_until_a_lease_ends_are_left_alone(vigil):
    need_bpf(vigil)
    result = vigil("run", "--on-hang", "kill", "--on-hang-needs", "medium", "--", sys.executable, "-c", ASKS, "lease", ASKS,
                   timeout=180)
    assert result.status == 0 and not events(vigil, "hang"), result
