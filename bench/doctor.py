#!/usr/bin/python3
"""How well `vigil doctor` names what holds a program back, and how well it tells the speed-up.

    doctor.py [--rounds N] [--seconds S] [--shares N] [--vigil PATH] [NAME…]

Each planted program of tests/workloads/speed.py runs for S seconds while it is watched, then the same with the fix; in
each round one after the other, so that both have the same neighbours. Says for each: how often the fault was named
first, the speed-up that was told (beside the neighbours of that moment) and the one that was measured (medians over the
rounds). The healthy programs are then watched once a round each. "others-busy" is no fault of a program: where the
machine is shared it is true, and is passed over here, but counted. Last, the processor time that watching takes.

Numbers of a shared machine: other programs take part of each run, and the two runs of a round may get unequal parts.
"""
import argparse
import json
import os
import pathlib
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
}
HEALTHY = ["compute", "two_processes", "numpy_alone", "numpy_threads", "sleeping", "cron", "idle_server", "thread_server",
           "pool_even", "loader_ahead", "hash_threads", "pipeline", "barrier", "child", "event_loop", "writer", "idle_pool"]
GROUPS = pathlib.Path("/sys/fs/cgroup")


def write(path, text):
    path.write_text(str(text))


def shares_group():
    if not SHARES:
        return None
    g = GROUPS / "cpu" / f"vigil-doctor-shares-{os.getpid()}"
    g.mkdir(exist_ok=True)
    write(g / "cpu.shares", SHARES)
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
    elif name == "memory_fit":
        g = GROUPS / "memory" / f"vigil-doctor-{os.getpid()}"
        g.mkdir(exist_ok=True)
        write(g / "memory.limit_in_bytes", 512 << 20)
    elif name == "fsync":
        g = GROUPS / "blkio" / f"vigil-doctor-{os.getpid()}"
        g.mkdir(exist_ok=True)
        device = os.stat(folder).st_dev
        write(g / "blkio.throttle.write_iops_device", f"{os.major(device)}:{os.minor(device)} 100")
    else:
        return None
    return g


SHARES = 0  # above 1024, the neighbours of a busy machine take less of each run (a cpu group of version 1)


class Program:
    def __init__(self, name, seconds, folder, fixed=False, group=None):
        args = ["/usr/bin/python3", str(PROGRAM), name, "--for", str(seconds), *(["--fixed"] if fixed else [])]
        groups = [g for g in (group, shares_group() if not group or group.parent.name != "cpu" else None) if g]

        def join():
            for g in groups:
                write(g / "cgroup.procs", os.getpid())
        self.process = subprocess.Popen(args, stdout=subprocess.PIPE, text=True, preexec_fn=join,
                                        env={**os.environ, "SPEED_DIR": folder}, start_new_session=True)

    def rate(self):
        out, _ = self.process.communicate(timeout=120)
        return float(out.split()[-1]) if out.strip() else 0.0

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate()


def doctor(vigil, pid, seconds, state):
    out = subprocess.run([vigil, "doctor", str(pid), "--for", str(seconds), "--json", "--state", state],
                         capture_output=True, text=True, timeout=120)
    if not out.stdout:
        raise SystemExit(f"doctor said nothing: {out.stderr}")
    return json.loads(out.stdout)


def watch(vigil, name, seconds, folder, group=None):
    """The findings without the neighbours, whether there were neighbours, and the program's rate."""
    program = Program(name, seconds + 3, folder, group=group)
    try:
        time.sleep(1.5)  # the program's start is not what is watched
        if name == "stopped":
            os.kill(program.process.pid, signal.SIGSTOP)
        told = doctor(vigil, program.process.pid, seconds, folder)
        if name == "stopped":
            return told["findings"], 0.0, told
        rate = program.rate()
    finally:
        program.end()
    return told["findings"], rate, told


def planted(vigil, name, rounds, seconds, folder):
    named, told, measured, others, seen = 0, [], [], 0, []
    try:
        group = group_for(name, folder)
    except OSError as e:
        print(f"{name:12} cannot be planted here: {e}")
        return None
    try:
        for _ in range(rounds):
            findings, rate, _ = watch(vigil, name, seconds, folder, group)
            others += any(f["id"] == "others-busy" for f in findings)
            own = [f for f in findings if f["id"] != "others-busy"]
            seen.append(own[0]["id"] if own else "-")
            if not own or own[0]["id"] != EXPECTED[name]:
                continue
            named += 1
            if name in ("stopped", "memory_fit"):
                continue  # they are not about speed as it is now
            fixed = Program(name, seconds + 3, folder, fixed=True, group=None if name == "quota" else group)
            try:
                after = fixed.rate()
            finally:
                fixed.end()
            if "speedup" in own[0]:
                told.append(own[0].get("speedup_now", own[0]["speedup"]))
            measured.append(after / rate if rate else 0)
    finally:
        remove(group)
    line = f"{name:12} {EXPECTED[name]:16} named {named}/{rounds}"
    if told:
        t, m = statistics.median(told), statistics.median(measured)
        line += f"  told {t:5.2f}  measured {m:5.2f}  off by {abs(t / m - 1) * 100 if m else 0:3.0f} %"
    elif measured:
        line += f"  told     ?  measured {statistics.median(measured):5.2f}"
    print(line + (f"  neighbours in {others}" if others else "") + ("" if named == rounds else f"  {seen}"), flush=True)
    return named


def cost(vigil, seconds, folder):
    """Processor time of the doctor while it watches, as a part of one processor. What else it costs is below the noise."""
    for name in ("compute", "pool_even", "thread_server"):
        program = Program(name, seconds + 3, folder)
        try:
            time.sleep(1.5)
            before = os.times()
            doctor(vigil, program.process.pid, seconds, folder)
            after = os.times()
        finally:
            program.end()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        print(f"watching {name}: {used * 1000:.0f} ms of processor time in {seconds:g} s, {100 * used / seconds:.1f} % of one")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=5)
    p.add_argument("--shares", type=int, default=0, help="of a control group for the programs, where neighbours have 1024")
    p.add_argument("--vigil", default=str(ROOT / "build/src/cli/vigil"))
    p.add_argument("names", nargs="*")
    a = p.parse_args()
    globals()["SHARES"] = a.shares
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
                    findings, _, _ = watch(a.vigil, name, a.seconds, folder)
                    wrong += [f["id"] for f in findings if f["id"] != "others-busy"]
                print(f"{name:14} healthy: {'nothing' if not wrong else wrong}", flush=True)
        if "cost" in names:
            cost(a.vigil, a.seconds, folder)
        remove(shares_group())


if __name__ == "__main__":
    main()
