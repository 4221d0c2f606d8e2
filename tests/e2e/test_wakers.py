"""Learned wakers: a real pipeline is watched while it works; once it stands, the threads that usually ended its waits are named."""
import json
import socket
import sys

import pytest

from conftest import wait_for
from hangkit import events

LEAST = 20  # wakes that say something

PIPELINE = '''
import asyncio, multiprocessing as mp, os, queue, socket, sys, threading, time

port, hang = int(sys.argv[1]), sys.argv[2]
todo, saved, records = queue.Queue(4), queue.Queue(), mp.Queue()

def stands():
    if os.path.exists(hang):
        socket.create_connection(("127.0.0.1", port)).recv(1)

def loader():
    while True:
        time.sleep(0.006)
        stands()
        todo.put(1)

def saver():
    while True:
        saved.get()

def worker(records):
    while True:
        time.sleep(0.002)
        records.put(b"x" * 1000)

def noise():
    while True:
        time.sleep(0.001)

async def alarm(loop, box):
    while True:
        box["event"] = loop.create_future()
        await box["event"]

def loops(box):
    loop = asyncio.new_event_loop()
    box["loop"] = loop
    loop.run_until_complete(alarm(loop, box))

def ticker(box):
    def tick():
        if not box["event"].done():
            box["event"].set_result(1)
    while True:
        time.sleep(0.01)
        stands()
        if "event" in box:
            box["loop"].call_soon_threadsafe(tick)

box, threads = {}, {}
for f, args in ((loader, ()), (saver, ()), (noise, ()), (loops, (box,)), (ticker, (box,))):
    threads[f.__name__] = threading.Thread(target=f, args=args, daemon=True)
    threads[f.__name__].start()
process = mp.Process(target=worker, args=(records,), daemon=True)
process.start()
names = {name: t.native_id for name, t in threads.items()}
print("names", *(f"{k}={v}" for k, v in names.items()), f"main={os.getpid()}", f"worker={process.pid}", flush=True)
step = 0
while True:
    todo.get()
    records.get()
    step += 1
    if step % 20 == 0:
        saved.put(step)
        print(f"step {step} loss 0.5", flush=True)
'''


def why_not(vigil):
    """What a kernel, a right or a namespace would have to give; None: all is there."""
    findings = vigil("doctor", "--json").json()
    found = [f["text"] for f in findings["findings"] if f["id"] in ("no-bpf", "no-wakers")]
    return found[0] if found else None


def names_of(vigil):
    def look():
        for log in vigil.state.glob("jobs/*/attempt-0/rank-0.out"):
            for line in log.read_text().splitlines():
                if line.startswith("names "):
                    return {k: int(v) for k, v in (w.split("=") for w in line.split()[1:])}
        return None
    return wait_for(look, 30, "the names of the threads")


def rows(vigil):
    """(kind, place, wakes, waiting pid and tid, waking pid and tid), as docs/formats/store.md says."""
    for path in vigil.state.glob("jobs/*/wakers"):
        lines = path.read_text().splitlines()
        assert lines[0] == "vigil.wakers/1"
        split = [line.split() for line in lines[1:]]
        return [(int(w[0]), int(w[2]), int(w[3]), (int(w[5]), int(w[6])), (int(w[12]), int(w[13]))) for w in split]
    return []


def test_who_usually_ended_a_wait_is_named_once_it_is_missing(vigil, tmp_path):
    missing = why_not(vigil)
    if missing:
        pytest.skip(f"the kernel permits no such BPF program here: {missing}")
    silent = socket.create_server(("127.0.0.1", 0))
    hang = tmp_path / "hang"
    p = vigil.start("run", "--hang-after", "8s", "--", sys.executable, "-c", PIPELINE, silent.getsockname()[1], hang)
    names = names_of(vigil)
    main = names["main"]

    def learned():
        """Main by the loader, at a place, and the event loop's thread by the ticker."""
        found = rows(vigil)
        queues = sum(n for kind, place, n, of, by in found if of == (main, main) and by == (main, names["loader"]) and place)
        alarms = sum(n for kind, place, n, of, by in found if of == (main, names["loops"]) and by == (main, names["ticker"]))
        return min(queues, alarms) >= LEAST
    wait_for(learned, 240, "twenty wakes of each")

    # Nobody but the job's own threads, and no sleeper, is in there. Rare wakes are an interrupt that hit somebody's call.
    allowed = {main, names["worker"], 0}
    assert all(of[0] in allowed and by[0] in allowed for _, _, _, of, by in rows(vigil))
    noise = sum(n for _, _, n, of, by in rows(vigil) if (main, names["noise"]) in (of, by))
    assert noise * 10 <= sum(n for _, _, n, _, _ in rows(vigil)), rows(vigil)

    hang.touch()
    told = wait_for(lambda: events(vigil, "hang"), 90, "the verdict")
    assert told
    report = vigil.why()
    assert f"usually woken by thread {names['loader']}" in json.dumps(report["cause"]), report["cause"]

    waits = vigil("waits", "last", "--json").json()
    threads = {t["tid"]: t for process in waits["processes"] for t in process["threads"]}
    get = threads[main]
    assert get["usual"]["tid"] == names["loader"] and "queue.Queue.get" in get["waiting_on"]
    assert [(a["to"]["tid"], a["quality"], a["source"]) for a in get["arrows"]] == [(names["loader"], "likely", "history")]
    loop = threads[names["loops"]]
    assert loop["usual"]["tid"] == names["ticker"], loop
    assert not [t for t in threads.values() if t.get("usual", {}).get("tid") == names["noise"]]
    assert not [t for t in threads.values() if t["dead"] and t["tid"] in (main, names["loops"])]
    text = vigil("waits", "last").out.decode()
    assert f"usually woken by thread {names['loader']}" in " ".join(text.split())
    p.terminate()
    vigil.finish(p)
