#!/usr/bin/python3
"""How well `vigil doctor` names what holds a program back, and how well it tells the speed-up.

    doctor.py [--rounds N] [--seconds S] [--shares N] [--vigil PATH] [NAME…]       NAME: of a program, or "cost"

Each planted program of tests/workloads/speed.py runs for S seconds while it is watched, then the same with the fix; in
each round one after the other, so that both have the same neighbours. Says for each: how often the fault was named
first, the speed-up that was told (beside the neighbours of that moment) and the one that was measured (medians over the
rounds). The healthy programs are then watched once a round each. "others-busy" is no fault of a program: where the
machine is shared it is true, and is passed over here, but counted. Last, the processor time that watching takes.

Numbers of a shared machine: other programs take part of each run, and the two runs of a round may get unequal parts.
With --shares the programs and vigil are in a control group (version 1) of that weight, where neighbours have 1024; the
gain that is compared is then the one with the processors alone, else the one beside the neighbours.
"""
import argparse
import json
import os
import pathlib
import resource
import signal
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "tests/workloads/speed.py"
# What the doctor is to call each fault.
EXPECTED = {
    "blas": "oversubscribed", "gil": "gil-bound", "one_worker": "one-worker", "tiny": "tiny-tasks",
    "uneven": "uneven-tasks", "poll": "sleeping", "cpuset": "cpuset-small", "loader": "loader-bound",
    "lock": "lock-contention", "serial": "serial-part", "faults": "page-faults", "quota": "cpu-quota",
    "stopped": "stopped", "memory_fit": "memory-fit", "fsync": "disk-wait",
    "process_lock": "lock-contention", "poll_thread": "sleeping", "each_waits": "one-at-a-time",
    "neighbour": "others-busy", "cold_reads": "disk-wait", "output": "output-wait", "small_io": "small-io",
    "process_each": "process-each", "big_args": "main-bound", "uneven_ranks": "uneven-tasks", "thrash": "memory-pressure",
    "gil_loader": "gil-bound", "slower": "steps-slower", "nan_loss": "loss-broken",
    "asks": "busy-waiting", "stream": "memory-bandwidth", "loader_in_main": "loader-in-main", "loader_restarts": "loader-restarts", "late_worker": "one-worker",
}
# They are not about speed as it is now.
NO_SPEED = ("stopped", "memory_fit", "nan_loss")
# They are run by vigil, as their output says what is wrong; what they did before counts as well.
OF_OUTPUT = {"slower": 8, "nan_loss": 2}
HEALTHY = ["compute", "two_processes", "numpy_alone", "numpy_threads", "sleeping", "cron", "idle_server", "thread_server",
           "pool_even", "loader_ahead", "hash_threads", "pipeline", "barrier", "child", "event_loop", "writer", "idle_pool", "many_threads",
           "looks_meanwhile", "busy_loop", "cooperative", "loader_in_main_fast",
           "loader_epochs", "late_pool"]
# They say when their libraries are loaded, which takes seconds.
SLOW_START = ("loader_in_main", "loader_in_main_fast", "loader_restarts", "loader_epochs")
GROUPS = pathlib.Path("/sys/fs/cgroup")


def write(path, text):
    path.write_text(str(text))


def shares_group(shares):
    """Puts this process, and all that it starts, into a group of that weight."""
    g = GROUPS / "cpu" / f"vigil-doctor-shares-{os.getpid()}"
    g.mkdir()
    write(g / "cpu.shares", shares)
    write(g / "cgroup.procs", os.getpid())
    return g


def remove(group):
    """A group is empty a moment after its last process has ended."""
    end = time.monotonic() + 5
    while group and group.exists() and time.monotonic() < end:
        try:
            group.rmdir()
        except OSError:
            time.sleep(0.1)


def group_for(name, folder):
    """A control group (version 1) with the limit that the fault needs; None: none is needed. OSError: not possible here."""
    if name == "quota":
        g = GROUPS / "cpu" / f"vigil-doctor-{os.getpid()}"
        g.mkdir(exist_ok=True)
        write(g / "cpu.cfs_period_us", 100000)
        write(g / "cpu.cfs_quota_us", 15000)
        write(g / "cpu.shares", SHARES or 1024)
    elif name in LIMITS_MIB:
        g = GROUPS / "memory" / f"vigil-doctor-{os.getpid()}"
        g.mkdir(exist_ok=True)
        write(g / "memory.limit_in_bytes", LIMITS_MIB[name] << 20)
    elif name in ("fsync", "cold_reads"):
        g = GROUPS / "blkio" / f"vigil-doctor-{os.getpid()}"
        g.mkdir(exist_ok=True)
        device = os.stat(folder).st_dev
        for way in ("read", "write"):
            write(g / f"blkio.throttle.{way}_iops_device", f"{os.major(device)}:{os.minor(device)} 100")
    else:
        return None
    return g


LIMITS_MIB = {"memory_fit": 512, "thrash": 96}
EACH = False  # also what each round told and measured
SHARES = 0  # above 1024, the neighbours of a busy machine take less of each run (a cpu group of version 1)


class Program:
    """A program of tests/workloads/speed.py; under `vigil run` where its output is to be read."""

    def __init__(self, name, seconds, folder, fixed=False, group=None, job_of=None):
        args = ["/usr/bin/python3", "-u", str(PROGRAM), name, "--for", str(seconds), *(["--fixed"] if fixed else [])]
        if job_of:
            args = [job_of, "run", "--quiet", "--state", folder, "--", *args]

        def join():
            if group:
                write(group / "cgroup.procs", os.getpid())
            if name == "neighbour":
                os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        options = {"preexec_fn": join, "start_new_session": True}
        self.others = []
        if name == "neighbour" and not fixed:
            self.others.append(subprocess.Popen(["sh", "-c", "while :; do :; done"], **options))
        self.printed = tempfile.TemporaryFile(dir=folder)
        self.process = subprocess.Popen(args, stdout=self.printed, env={**os.environ, "SPEED_DIR": folder}, **options)

    def lines(self):
        self.printed.seek(0)
        return self.printed.read().decode().splitlines()

    def rate(self):
        self.process.wait(120)
        last = self.lines()[-1:]
        self.end()
        return float(last[0].split()[-1]) if last else 0.0

    def end(self):
        for p in (self.process, *self.others):
            if p.poll() is None:
                os.killpg(p.pid, signal.SIGKILL)
                p.wait()


def doctor(vigil, pid, seconds, state):
    out = subprocess.run([vigil, "doctor", str(pid), "--for", str(seconds), "--json", "--state", state],
                         capture_output=True, text=True, timeout=120)
    if not out.stdout:
        raise SystemExit(f"doctor said nothing: {out.stderr}")
    return json.loads(out.stdout)


def watch(vigil, name, seconds, folder, group=None, fixed=False):
    """The findings, and the rate of the program: of its whole run, or of its steps while it is watched."""
    before = OF_OUTPUT.get(name, 1.5)  # the program's start is not what is watched
    program = Program(name, before + seconds + 1.5, folder, fixed, group, vigil if name in OF_OUTPUT else None)
    try:
        end = time.monotonic() + 60
        while name in SLOW_START and not program.lines() and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(before)
        if name == "stopped":
            os.kill(program.process.pid, signal.SIGSTOP)
        begin, n = time.monotonic(), len(program.lines())
        told = doctor(vigil, "last" if name in OF_OUTPUT else program.process.pid, seconds, folder)
        if name in OF_OUTPUT:
            return told["findings"], (len(program.lines()) - n) / (time.monotonic() - begin)
        return told["findings"], 0.0 if name == "stopped" else program.rate()
    finally:
        program.end()


def own_of(name, findings):
    """Without the neighbours, unless they are what is planted."""
    return [f for f in findings if f["id"] != "others-busy" or name == "neighbour"]


def fixed_rate(vigil, name, seconds, folder, group):
    if name in OF_OUTPUT:
        return watch(vigil, name, seconds, folder, fixed=True)[1]
    return Program(name, seconds + 3, folder, fixed=True, group=None if name == "quota" else group).rate()


def counts_memory(vigil, folder):
    """True where the doctor sees what the memory moves and what it could."""
    return "limit_bytes_per_s" in doctor(vigil, os.getpid(), 1, folder)["watched"]["memory_traffic"]


def planted(vigil, name, rounds, seconds, folder):
    named, told, measured, others, seen = 0, [], [], 0, []
    if name == "stream" and not counts_memory(vigil, folder):
        print(f"{name:12} cannot be planted here: nothing says what the memory moves, or what it could")
        return None
    try:
        group = group_for(name, folder)
    except OSError as e:
        print(f"{name:12} cannot be planted here: {e}")
        return None
    try:
        for _ in range(rounds):
            findings, rate = watch(vigil, name, seconds, folder, group)
            others += any(f["id"] == "others-busy" for f in findings)
            own = own_of(name, findings)
            seen.append(own[0]["id"] if own else "-")
            if not own or own[0]["id"] != EXPECTED[name]:
                continue
            named += 1
            if name in NO_SPEED:
                continue
            after = fixed_rate(vigil, name, seconds, folder, group)
            if "speedup" in own[0]:
                told.append(own[0]["speedup"] if SHARES else own[0].get("speedup_now", own[0]["speedup"]))
            measured.append(after / rate if rate else 0)
    finally:
        remove(group)
    line = f"{name:12} {EXPECTED[name]:16} named {named}/{rounds}"
    if told:
        t, m = statistics.median(told), statistics.median(measured)
        line += f"  told {t:5.2f}  measured {m:5.2f}  off by {abs(t / m - 1) * 100 if m else 0:3.0f} %"
    elif measured:
        line += f"  told     ?  measured {statistics.median(measured):5.2f}"
    if EACH:
        line += "  " + ", ".join(f"{x:.2f}" for x in told) + " / " + ", ".join(f"{x:.2f}" for x in measured)
    print(line + (f"  neighbours in {others}" if others else "") + ("" if named == rounds else f"  {seen}"), flush=True)
    return named


def cost(vigil, seconds, folder):
    """Processor time of the doctor while it watches, as a part of one processor. What else it costs is below the noise."""
    for name in ("compute", "pool_even", "thread_server", "many_threads"):
        program = Program(name, seconds + 3, folder)
        try:
            time.sleep(1.5)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            doctor(vigil, program.process.pid, seconds, folder)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        finally:
            program.end()
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"watching {name}: {used * 1000:.0f} ms of processor time in {seconds:g} s, {100 * used / seconds:.1f} % of one")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=5)
    p.add_argument("--shares", type=int, default=0, help="of a control group for the programs, where neighbours have 1024")
    p.add_argument("--each", action="store_true", help="what each round told, and what was measured, as well")
    p.add_argument("--vigil", default=str(ROOT / "build/src/cli/vigil"))
    p.add_argument("names", nargs="*")
    a = p.parse_args()
    globals()["SHARES"], globals()["EACH"] = a.shares, a.each
    group = shares_group(a.shares) if a.shares else None
    names = a.names or [*EXPECTED, *HEALTHY, "cost"]
    with tempfile.TemporaryDirectory(dir=os.environ.get("SPEED_DIR")) as folder:
        total, runs = 0, 0
        for name in names:
            if name in EXPECTED:
                named = planted(a.vigil, name, a.rounds, a.seconds, folder)
                if named is not None:
                    total, runs = total + named, runs + a.rounds
        if runs:
            print(f"named first: {total} of {runs}")
        for name in names:
            if name in HEALTHY:
                wrong = []
                for _ in range(a.rounds):
                    findings, _ = watch(a.vigil, name, a.seconds, folder)
                    wrong += [f["id"] for f in findings if f["id"] != "others-busy"]
                print(f"{name:14} healthy: {'nothing' if not wrong else wrong}", flush=True)
        if "cost" in names:
            cost(a.vigil, a.seconds, folder)
    if group:
        write(group.parent / "cgroup.procs", os.getpid())
        remove(group)


if __name__ == "__main__":
    main()
