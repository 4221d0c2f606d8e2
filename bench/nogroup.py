#!/usr/bin/python3
"""What does keeping --memory-limit cost an ordinary user, without BPF and a control group, and how soon is it kept?

    bench/nogroup.py [--before OLD_VIGIL] [--strangers 400,2000] [--jobs 1,8,64] [--secs 20] [--kills 20] [--user UID]

cost: a job of so many processes that sleep, half of its limit in use, beside so many sleeping strangers: processor time of the guard
and of all of vigil, in percent of one processor. kills: a program that grows by 2 GiB/s, by 50 MiB/s, or in a child that has left by
setsid and a double fork: from the moment at which it had touched as much as the threshold to its death, in ms, and how far it came.
VIGIL is the program (build/src/cli/vigil); with --before both are measured by turns.
"""
import argparse
import ctypes
import mmap
import os
import pathlib
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
VIGIL = os.environ.get("VIGIL", str(ROOT / "build/src/cli/vigil"))
MIB = 1 << 20
LIMIT_MIB = 1024
TICKS = os.sysconf("SC_CLK_TCK")

SLEEPERS = """import os, signal, sys, time
for _ in range(int(sys.argv[1])):
    if os.fork() == 0:
        signal.pause()
print("ready", flush=True)
signal.pause()"""

JOB = """import mmap, os, signal, sys
n, mib, marker = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
for i in range(n):
    if i == n - 1 or os.fork() == 0:
        m = mmap.mmap(-1, mib << 20)
        for at in range(0, mib << 20, 4096):
            m[at] = 1
        open(marker + str(i), "w").close()
        signal.pause()"""

# Where it stands is written to a file that the bench has mapped: moment, bytes touched, own number.
HOG = """import ctypes, mmap, os, struct, sys, time
rate, how, file, limit = float(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]) << 20
if how == "daemon":
    if os.fork(): time.sleep(100)
    os.setsid()
    if os.fork(): os._exit(0)
with open(file, "r+b") as f: page = mmap.mmap(f.fileno(), 4096)
base = int.__sub__(*map(int, open("/proc/self/statm").read().split()[1:3])) * 4096
struct.pack_into("q", page, 24, os.getpid())
time.sleep(1.5)
m = mmap.mmap(-1, 4 * limit)
where = ctypes.addressof(ctypes.c_char.from_buffer(m))
began, step, at, crossed = time.monotonic(), 1 << 20, 0, False
while at < 4 * limit:
    ctypes.memset(where + at, 1, step)
    at += step
    now = time.monotonic_ns()
    if not crossed and base + at >= 0.95 * limit:
        crossed = True
        struct.pack_into("q", page, 0, now)
    struct.pack_into("qq", page, 8, now, base + at)
    ahead = at / rate - (time.monotonic() - began)
    if ahead > 0.001: time.sleep(ahead)
"""


def as_user(uid):
    if os.geteuid() != 0:
        return []
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]


def folder_of(uid):
    folder = tempfile.mkdtemp(prefix="vigil-bench-")
    if os.geteuid() == 0:
        os.chown(folder, uid, uid)
    return folder


def processes_of(root):
    """Processes below root that run the program of root, by name."""
    mine, names = {root}, {}
    stats = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text(errors="replace")
        except OSError:
            continue
        head, _, rest = text.rpartition(")")
        stats[int(stat.parent.name)] = (int(rest.split()[1]), head.partition("(")[2])
    grown = True
    while grown:
        more = {pid for pid, (parent, name) in stats.items() if parent in mine and pid not in mine and not name.startswith("python")}
        grown = bool(more)
        mine |= more
    for pid in mine:
        names[pid] = stats.get(pid, (0, "?"))[1]
    return names


def spent_ns(pid):
    total = 0
    for file in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            total += int(file.read_text().split()[0])
        except OSError:
            pass
    return total


def cost(vigil, jobs, seconds, uid):
    folder = folder_of(uid)
    each = LIMIT_MIB // 2 // jobs
    env = dict(os.environ, VIGIL_STATE_DIR=folder + "/state", HOME=folder)
    run = subprocess.Popen([*as_user(uid), vigil, "run", "--quiet", "--memory-limit", f"{LIMIT_MIB}M", "--", sys.executable, "-c", JOB,
                            str(jobs), str(each), folder + "/at"], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, cwd="/")
    try:
        end = time.monotonic() + 60
        while len(list(pathlib.Path(folder).glob("at*"))) < jobs and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(6)
        names = processes_of(run.pid)
        before = {pid: spent_ns(pid) for pid in names}
        began = time.monotonic()
        time.sleep(seconds)
        took = time.monotonic() - began
        after = {pid: spent_ns(pid) for pid in names}
    finally:
        run.send_signal(signal.SIGTERM)
        run.wait(30)
        shutil.rmtree(folder, ignore_errors=True)
    share = {pid: (after[pid] - before[pid]) / took / 1e7 for pid in names}
    guard = sum(v for pid, v in share.items() if names[pid] == "vigil-guard")
    return guard, sum(share.values())


def kill(vigil, rate, how, uid, limit_mib=256):
    folder = folder_of(uid)
    file = folder + "/page"
    with open(file, "wb") as f:
        f.write(bytes(4096))
    os.chmod(file, 0o666)
    env = dict(os.environ, VIGIL_STATE_DIR=folder + "/state", HOME=folder)
    with open(file, "r+b") as f:
        page = mmap.mmap(f.fileno(), 4096)
    run = subprocess.Popen([*as_user(uid), vigil, "run", "--quiet", "--retries", "0", "--grace", "0", "--memory-limit", f"{limit_mib}M", "--",
                            sys.executable, "-c", HOG, str(rate * MIB), how, file, str(limit_mib)], env=env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
    try:
        end = time.monotonic() + 60
        while struct.unpack_from("q", page, 24)[0] == 0 and time.monotonic() < end:
            time.sleep(0.005)
        fd = os.pidfd_open(struct.unpack_from("q", page, 24)[0])
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        ended = bool(poll.poll(60000))
        dead = time.monotonic_ns()
        os.close(fd)
        crossing, last, touched = struct.unpack_from("qqq", page, 0)
    finally:
        run.send_signal(signal.SIGTERM)
        run.wait(60)
        shutil.rmtree(folder, ignore_errors=True)
    if not ended or touched >= 4 * limit_mib * MIB:
        return None
    # it may be stopped before: the pages of whoever has started it count as well
    return max(0, (last - crossing) / 1e6) if crossing else 0, max(0, (dead - crossing) / 1e6) if crossing else 0, touched / MIB


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--before")
    p.add_argument("--strangers", default="400,2000")
    p.add_argument("--jobs", default="1,8,64")
    p.add_argument("--secs", type=float, default=20)
    p.add_argument("--kills", type=int, default=20)
    p.add_argument("--user", type=int, default=61937)
    a = p.parse_args()
    builds = [("before", a.before)] * bool(a.before) + [("now", VIGIL)]
    for strangers in [int(s) for s in a.strangers.split(",") if s]:
        others = subprocess.Popen([sys.executable, "-c", SLEEPERS, str(strangers)], stdout=subprocess.PIPE, start_new_session=True)
        try:
            others.stdout.readline()
            for jobs in [int(j) for j in a.jobs.split(",") if j]:
                for name, vigil in builds:
                    guard, all_ = cost(vigil, jobs, a.secs, a.user)
                    print(f"{strangers} strangers, job of {jobs}, {name}: guard {guard:.2f} %, all of vigil {all_:.2f} %", flush=True)
            for rate, how in ((2048, "plain"), (50, "plain"), (200, "daemon")) if a.kills else ():
                seen = {name: [] for name, _ in builds}
                for _ in range(a.kills):
                    for name, vigil in builds:
                        seen[name].append(kill(vigil, rate, how, a.user))
                for name, _ in builds:
                    got = [k for k in seen[name] if k]
                    if not got:
                        print(f"{strangers} strangers, {rate} MiB/s, {how}, {name}: none ended")
                        continue
                    stop, dead, far = zip(*got)
                    print(f"{strangers} strangers, {rate} MiB/s, {how}, {name}: {len(got)} of {len(seen[name])} ended; crossing to last "
                          f"growth {statistics.median(stop):.1f} (worst {max(stop):.1f}) ms, to death {statistics.median(dead):.1f} "
                          f"(worst {max(dead):.1f}) ms; came to {statistics.median(far):.0f} (worst {max(far):.0f}) MiB", flush=True)
        finally:
            os.killpg(others.pid, signal.SIGKILL)
            others.wait()


if __name__ == "__main__":
    main()
