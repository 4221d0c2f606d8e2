#!/usr/bin/python3
"""What learning who ends waits costs: nanoseconds a wake, the share of a core, and memory in the kernel. Root only.

    bench/wakers.py [--vigil BINARY] [--without BINARY] [--seconds 130]

A job of two processes plays ping-pong over pipes as fast as it can and prints steps; beside it two strangers do the same.
The kernel counts what the program takes (kernel.bpf_stats_enabled, set back afterwards; counting itself adds some 40 ns a
wake). --without: a vigil that learns nothing, whose watcher's processor time is measured in the same way.
"""
import argparse
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
STATS = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")

PINGPONG = """
import os, sys, time
there, back = os.pipe(), os.pipe()
if os.fork() == 0:
    os.close(there[1])
    while os.read(there[0], 1):
        os.write(back[1], b"x")
    os._exit(0)
end, said, n, step = time.time() + float(sys.argv[1]), time.time(), 0, 0
while time.time() < end:
    for _ in range(100):
        os.write(there[1], b"x")
        os.read(back[0], 1)
    n += 200
    if time.time() - said > 1:
        said += 1
        step += 1
        print(f"step {step} loss 0.5", flush=True)
print("wakes a second", int(n / float(sys.argv[1])), flush=True)
"""


def fields(text):
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)


def watcher_of(vigil):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, ValueError):
            stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
            if "(vigil-hang)" in stat and int(stat.rsplit(")", 1)[1].split()[1]) == vigil:
                return int(pid)
    return None


def cpu_s(pid):
    with contextlib.suppress(OSError):
        f = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(f[11]) + int(f[12])) / os.sysconf("SC_CLK_TCK")
    return None


def in_kernel(pid):
    """(time in ns, runs, bytes) of what the watcher has loaded."""
    ns = runs = size = 0
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        with contextlib.suppress(OSError):
            f = fields(pathlib.Path(f"/proc/{pid}/fdinfo/{fd}").read_text())
            if "prog_type" in f:
                ns, runs = ns + int(f["run_time_ns"]), runs + int(f["run_cnt"])
            if "prog_type" in f or "map_type" in f:
                size += int(f["memlock"])
    return ns, runs, size


def run(vigil, seconds):
    with tempfile.TemporaryDirectory() as state:
        job = subprocess.Popen([vigil, "run", "--quiet", "--state", state, "--retries", "0", "--", "/usr/bin/python3", "-c", PINGPONG,
                                str(seconds)], stdout=subprocess.PIPE, text=True)
        stranger = subprocess.Popen(["/usr/bin/python3", "-c", PINGPONG, str(seconds)], stdout=subprocess.PIPE, text=True)
        end, last, pid, cpu = time.time() + seconds - 2, (0, 0, 0), None, None
        while time.time() < end:
            time.sleep(1)
            pid = pid or watcher_of(job.pid)
            with contextlib.suppress(OSError):
                last = in_kernel(pid) if pid else last
                cpu = cpu_s(pid) or cpu
        rates = [p.communicate()[0].splitlines()[-1].rsplit(" ", 1)[1] for p in (job, stranger)]
        return last, cpu, rates


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--vigil", default=HERE.parent / "build/src/cli/vigil")
    ask.add_argument("--without")
    ask.add_argument("--seconds", type=int, default=130)
    o = ask.parse_args()
    before = STATS.read_text()
    STATS.write_text("1")
    try:
        (ns, runs, size), cpu, rates = run(o.vigil, o.seconds)
        print(f"wakes a second: job {rates[0]}, strangers {rates[1]}")
        print(f"in the kernel: {ns / max(runs, 1):.0f} ns a wake, {runs} wakes seen, {ns / 1e6:.1f} ms = "
              f"{ns / 1e7 / o.seconds:.4f} % of a core; {size / 2**20:.2f} MiB")
        print(f"watcher: {cpu * 1e3:.0f} ms = {100 * cpu / o.seconds:.3f} % of a core")
        if o.without:
            _, cpu, _ = run(o.without, o.seconds)
            print(f"watcher without: {cpu * 1e3:.0f} ms = {100 * cpu / o.seconds:.3f} % of a core")
    finally:
        STATS.write_text(before)


if __name__ == "__main__":
    sys.exit(main())
