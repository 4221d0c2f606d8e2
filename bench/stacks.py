#!/usr/bin/python3
"""What looking into a running Python costs: vigil against py-spy, Austin and CPython 3.15's own profiling.sampling.

    stacks.py [--seconds S=4] [--only cost,slowdown,first,kilohertz,pause] [--who NAME...] [--rounds N=5] [--work X=1] [--out FILE]

cost      CPU of the profiler for one stack of 50 frames: (CPU of a long recording - CPU of a short one) / (stacks of
          the long one - stacks of the short one), so that starting and writing cancel out
slowdown  how much longer a program with 160 threads takes for fixed work (--work times as much) while it is looked at 100
          times a second, medians of --rounds pairs; "nobody" is a pair of the program alone: what differs less is not told apart
first     how long until the first stack is printed, warm, and with the interpreter's file thrown out of the page cache
kilohertz share of a core for 1,000 looks a second at one process, and for 1,000 wake-ups alone
pause     how long a running thread stands still for one native stack, as the thread itself notices: the longest gap
          in what it does while it is looked at. "nobody" looks at the clock only, which shows what the machine does by itself

Prints one JSON object a measurement (appended to --out too) and a table. VIGIL=path of the binary. bench/peers.sh
fetches the peers; who is not there is printed as not measured, with the reason.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent
sys.path.insert(0, str(TOP / "tests"))
import pythons  # noqa: E402

PEERS = pathlib.Path(os.environ.get("VIGIL_PEERS") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "vigil-peers") / "python/bin"
VIGIL = os.environ.get("VIGIL") or str(TOP / "build/src/cli/vigil")
RESULTS = []
WHO = []  # to be measured; none: all

DEEP = """
import sys
def f(n):
    if n:
        return f(n - 1)
    print("begun", flush=True)
    x = 0
    while True:
        x = (x + 1) % 1000
f(int(sys.argv[1]) - 2)
"""

# 160 threads that wait, eight of them in Python code that wakes now and then, and one that works.
CROWD = """
import sys, threading, time
stop = threading.Event()
def waits(): stop.wait()
def wakes():
    while not stop.is_set():
        time.sleep(0.01)
for i in range(160):
    threading.Thread(target=wakes if i % 20 == 0 else waits, daemon=True).start()
print("begun", flush=True)
sys.stdin.readline()
def work(n):
    x = 0
    for i in range(n):
        x = (x * 31 + i) % 1000003
    return x
begin = time.perf_counter()
work(int(sys.argv[1]))
print(time.perf_counter() - begin, time.process_time(), flush=True)
sys.stdin.readline()
"""


def note(**row):
    RESULTS.append(row)
    print(json.dumps(row), flush=True)


@contextlib.contextmanager
def proc_inside(python):
    """/proc in the root that this Python is entered by, while it is measured."""
    proc = pathlib.Path(python.chroot or "/", "proc")
    bound = bool(python.chroot) and not (proc / "self").exists()
    if bound:
        proc.mkdir(exist_ok=True)
        bound = subprocess.run(["mount", "--bind", "/proc", str(proc)]).returncode == 0
    try:
        yield
    finally:
        if bound:
            subprocess.run(["umount", "-l", str(proc)])


def program(python, source, *args):
    folder = tempfile.mkdtemp()
    script = pathlib.Path(folder, "program.py")
    script.write_text(source)
    placed = python.place(script)
    process = subprocess.Popen([*python.argv, placed, *map(str, args)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               env=python.env(), text=True)
    assert process.stdout.readline() == "begun\n"
    shutil.rmtree(folder)
    return process


def end(process):
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def timed(command, **kwargs):
    """(CPU seconds, wall seconds, result) of a command and what it waited for."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    result = subprocess.run(list(map(str, command)), capture_output=True, **kwargs)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall, result


def last_number(text):
    return int(re.sub(r"[^0-9]", "", text)) if text else 0


class Peer:
    def __init__(self, name, record, count, dump=None, missing=None):
        self.name, self.record, self.count, self.dump, self.missing = name, record, count, dump, missing


def vigil_count(out, result):
    return json.loads(pathlib.Path(out).read_text())["meta"]["samples"]


def pyspy_count(out, result):
    return last_number(re.search(rb"Samples: (\d+)", result.stdout + result.stderr).group(1).decode())


def austin_count(out, result):
    found = re.search(rb"/(\d+)", (result.stdout + result.stderr).split(b"Error rate")[-1])
    return int(found.group(1)) if found else 0


def tachyon_count(out, result):
    return last_number(re.search(rb"Captured ([\d,]+) samples", result.stdout + result.stderr).group(1).decode())


def peers(python):
    """Everybody who claims to read this interpreter."""
    def at(rate):
        return int(1e6 / rate)
    found = [
        Peer("vigil", lambda pid, rate, s, out: [VIGIL, "flame", pid, "-d", s, "--rate", rate, "--no-children", "-f", "json",
                                                 "-o", out], vigil_count, lambda pid: [VIGIL, "stack", pid]),
        Peer("py-spy", lambda pid, rate, s, out: [PEERS / "py-spy", "record", "-p", pid, "-r", rate, "-d", s, "-f", "raw", "-o",
                                                  out], pyspy_count, lambda pid: [PEERS / "py-spy", "dump", "-p", pid]),
        Peer("py-spy --nonblocking", lambda pid, rate, s, out: [PEERS / "py-spy", "record", "--nonblocking", "-p", pid, "-r",
                                                                rate, "-d", s, "-f", "raw", "-o", out], pyspy_count,
             lambda pid: [PEERS / "py-spy", "dump", "--nonblocking", "-p", pid]),
        Peer("austin", lambda pid, rate, s, out: [PEERS / "austin", "-i", at(rate), "-x", s, "-o", out, "-p", pid],
             austin_count),
    ]
    for peer in found:
        program_path = peer.record(1, 100, 1, "x")[0]
        if not shutil.which(str(program_path)):
            peer.missing = f"{pathlib.Path(program_path).name} is not there (bench/peers.sh)"
    if python.version == (3, 15):
        # It reads the target's maps by the names that its own root gives them, so it must see /proc in there.
        found.append(Peer("profiling.sampling", lambda pid, rate, s, out: ["env", "-i", f"PATH={os.environ['PATH']}", "LC_ALL=C",
                                                                          *python.argv, "-m", "profiling.sampling", "attach",
                                                                          "-r", str(rate), "-d", s, "--collapsed", "-o",
                                                                          "/dev/null", pid], tachyon_count))
    return found


def recorded(peer, python, pid, rate, seconds):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out.json")
        cpu, wall, result = timed(peer.record(pid, rate, seconds, out))
        try:
            return cpu, wall, peer.count(out, result)
        except (AttributeError, OSError, ValueError, KeyError) as error:
            tail = (result.stdout + result.stderr)[-200:].decode(errors="replace").strip().replace("\n", " ")
            raise RuntimeError(f"no count of stacks ({error}); it said: {tail}") from error


def each(python, what, measure):
    for peer in peers(python):
        if WHO and peer.name not in WHO:
            continue
        if peer.missing:
            note(what=what, who=peer.name, python=python.label, not_measured=peer.missing)
            continue
        try:
            measure(peer)
        except RuntimeError as error:
            note(what=what, who=peer.name, python=python.label, not_measured=str(error))


def cost(python, seconds):
    target = program(python, DEEP, 50)

    def measure(peer):
        short = recorded(peer, python, target.pid, 1000, 1)
        long = recorded(peer, python, target.pid, 1000, 1 + seconds)
        stacks = long[2] - short[2]
        if stacks <= 0:
            raise RuntimeError("no stacks were counted")
        note(what="cost", who=peer.name, python=python.label, stacks=stacks, cpu_us_per_stack=round((long[0] - short[0]) / stacks * 1e6, 2),
             per_cpu_second=round(stacks / max(long[0] - short[0], 1e-6)), core_share=round((long[0] - short[0]) / seconds, 4))
    each(python, "cost", measure)
    end(target)


def slowdown(python, rounds, work):
    work = int(12_000_000 * work)

    def once(peer):
        target = program(python, CROWD, work)
        with tempfile.TemporaryDirectory() as folder:
            watcher = None
            if peer and peer.record:
                watcher = subprocess.Popen(list(map(str, peer.record(target.pid, 100, 600, pathlib.Path(folder, "out.json")))),
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(1)  # a recording says nothing when it has begun; all get the same
            target.stdin.write("\n")
            target.stdin.flush()
            wall, cpu = map(float, target.stdout.readline().split())
            if watcher:
                watcher.terminate()
                watcher.wait()
        end(target)
        return wall, cpu

    def measure(peer):
        # In pairs, one after the other: what else the machine does falls on both.
        pairs = [(once(None), once(peer)) for _ in range(rounds)]
        wall, cpu = (statistics.median(seen[i] / base[i] for base, seen in pairs) for i in (0, 1))
        note(what="slowdown", who=peer.name, python=python.label, threads=161, wall_ratio=round(wall, 3), cpu_ratio=round(cpu, 3),
             base_s=round(statistics.median(base[0] for base, _ in pairs), 2))
    natives = Peer("vigil --native", lambda pid, rate, s, out: [VIGIL, "flame", pid, "-d", s, "--rate", rate, "--native", "-f",
                                                                "json", "-o", out], vigil_count)
    for peer in (Peer("nobody", None, None), natives):
        if not WHO or peer.name in WHO:
            measure(peer)
    each(python, "slowdown", measure)


def evict(pid):
    """The interpreter's files out of the page cache, as far as nobody else keeps them there."""
    for line in open(f"/proc/{pid}/maps"):
        path = line.split(maxsplit=5)[5].strip() if len(line.split()) > 5 else ""
        if "python" in path and path.startswith("/"):
            try:
                fd = os.open(f"/proc/{pid}/root{path}", os.O_RDONLY)
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(fd)
            except OSError:
                pass


def first(python, rounds=15):
    target = program(python, DEEP, 50)

    def measure(peer):
        if not peer.dump:
            return
        _, _, result = timed(peer.dump(target.pid))
        if result.returncode:
            raise RuntimeError(result.stderr.decode(errors="replace").strip()[-200:])
        warm = [timed(peer.dump(target.pid))[1] for _ in range(rounds)]
        cold = []
        for _ in range(5):
            evict(target.pid)
            cold.append(timed(peer.dump(target.pid))[1])
        nothing = [timed(["true"])[1] for _ in range(rounds)]
        inside = {}
        if peer.name == "vigil":  # its own clock, without its start and the search for the process's children
            told = [json.loads(subprocess.run([*map(str, peer.dump(target.pid)), "--json"], capture_output=True).stdout)
                    for _ in range(rounds)]
            inside = {"attach_to_first_stack_ms": statistics.median(t["first_us"] for t in told) / 1e3}
        note(what="first", who=peer.name, python=python.label, warm_ms=round(statistics.median(warm) * 1e3, 2),
             cold_ms=round(statistics.median(cold) * 1e3, 2), starting_true_ms=round(statistics.median(nothing) * 1e3, 2), **inside)
    each(python, "first", measure)
    end(target)


def kilohertz(python, seconds):
    target = program(python, DEEP, 20)

    def measure(peer):
        cpu, wall, stacks = recorded(peer, python, target.pid, 1000, seconds)
        note(what="kilohertz", who=peer.name, python=python.label, core_share=round(cpu / wall, 4), stacks=stacks,
             rate_got=round(stacks / wall))
    each(python, "kilohertz", measure)
    end(target)
    naps = pathlib.Path(VIGIL).parents[2] / "bench/naps"
    if naps.exists():
        share = float(subprocess.run([naps, "1000", str(seconds)], capture_output=True, text=True, check=True).stdout)
        note(what="kilohertz", who="1,000 wake-ups alone", core_share=round(share, 4))


def gaps(seconds, how):
    """The gaps that a thread noticed, and when somebody looked at it: ([(from, to)], [(from, to)]) in us."""
    built = pathlib.Path(VIGIL).parents[2]
    program = subprocess.Popen([built / "bench/gaps"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert program.stdout.readline() == "begun\n"
    looks = subprocess.run([built / "tests/e2e/native/stacktool", "times", str(program.pid), str(program.pid), str(int(seconds * 100)), how],
                           capture_output=True, text=True, check=True).stdout
    told, _ = program.communicate()
    felt = [tuple(map(int, line.split())) for line in told.split("\n") if line]
    return ([(since / 1000, (since + ns) / 1000) for since, ns in felt],
            [tuple(int(n) / 1000 for n in line.split()) for line in looks.split("\n") if line])


def pause(seconds):
    """Native stacks of one running thread, 100 times a second: the longest gap that a look fell into or ended in."""
    for who, how in (("nobody", "watch"), ("vigil: caught", "catch"), ("vigil: stopped", "take")):
        felt, looks = gaps(seconds, how)
        lost = sorted(max((to - since for since, to in felt if since < end + 2 and to > begin - 2), default=0) for begin, end in looks)
        if not lost:
            note(what="pause", who=who, not_measured="it was never met")
            continue
        note(what="pause", who=who, looks=int(seconds * 100), met=len(lost), p50_us=round(statistics.median(lost), 1),
             p90_us=round(lost[len(lost) * 9 // 10], 1), p99_us=round(lost[len(lost) * 99 // 100], 1))


def table():
    for what in dict.fromkeys(r["what"] for r in RESULTS):
        rows = [r for r in RESULTS if r["what"] == what]
        keys = list(dict.fromkeys(k for r in rows for k in r if k not in ("what", "not_measured")))
        print(f"\n## {what}\n\n| " + " | ".join(keys) + " |\n|" + "---|" * len(keys))
        for r in rows:
            why = r.get("not_measured")
            cells = [str(r.get(k, "")) for k in keys]
            print("| " + " | ".join(cells) + " |" + (f" not measured: {why}" if why else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--only", default="cost,slowdown,first,kilohertz,pause")
    parser.add_argument("--who", nargs="*", default=[])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--work", type=float, default=1)
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    WHO.extend(args.who)
    only = args.only.split(",")
    all_pythons = pythons.find()
    system = next(p for p in all_pythons if p.version == (3, 11))
    newest = {p.version: p for p in all_pythons if not p.free_threaded}
    if "cost" in only:
        for python in newest.values():
            with proc_inside(python):
                cost(python, args.seconds)
    for python in dict.fromkeys((system, newest.get((3, 15), system))):
        with proc_inside(python):
            if "slowdown" in only:
                slowdown(python, args.rounds, args.work)
            if "first" in only:
                first(python)
            if "kilohertz" in only:
                kilohertz(python, args.seconds)
    if "pause" in only:
        pause(args.seconds)
    table()
    if args.out:
        with open(args.out, "a") as to:
            to.writelines(json.dumps(r) + "\n" for r in RESULTS)


if __name__ == "__main__":
    main()
