#!/usr/bin/python3
"""How fast a job's output passes: nothing in between, cat, tee FILE, and vigil run, to readers of several kinds.

    bench/throughput.py [--vigil PATH] [--mib N] [--rounds N] [--state DIR]

Rounds are taken in turn, so that other load on the machine meets all alike; the median of each is printed. GB/s are
those between the first byte that the reader sees, or that lies in the file, and the last one, so no start is in them (but
where the reader is /dev/null). "cpu" is the processor time
of all processes, start included, per GB. Latency: from just before a line of 20 bytes is written, each 5 ms, until the
reader has it.
"""
import argparse
import os
import pathlib
import pty
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

WRITER = r"""
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* writer MIB BLOCK: lines of 100 bytes in blocks of that size */
int main(int argc, char **argv)
{
	size_t left = strtoull(argv[1], 0, 10) << 20, size = argc > 2 ? strtoull(argv[2], 0, 10) : 65536;
	char *b = malloc(size);
	for (size_t i = 0; i < size; i++)
		b[i] = i % 100 == 99 ? '\n' : 'x';
	while (left > 0) {
		ssize_t n = write(1, b, left < size ? left : size);
		if (n <= 0)
			return 1;
		left -= (size_t)n;
	}
	return 0;
}
"""
LATENCY = """
import os, time
for i in range(400):
    time.sleep(0.005)
    os.write(1, b"%019d\\n" % time.monotonic_ns())
"""


def between(way, vigil, state, command):
    """The command of a way between the job and the reader, and what must be removed after it."""
    kept = state / "tee.log"
    return {"plain": command,
            "cat": ["sh", "-c", '"$@" | cat', "sh", *command],
            "tee FILE": ["sh", "-c", f'"$@" | tee {kept}', "sh", *command],
            "vigil": [vigil, "run", "--quiet", "--", *command]}[way]


def drain(fd):
    """Bytes, seconds between the first and the last of them."""
    first, total = None, 0
    buffer = bytearray(1 << 18)
    while True:
        try:
            n = os.readv(fd, [buffer])
        except OSError:
            n = 0
        if n == 0:
            return total, time.monotonic() - (first or 0)
        first = first or time.monotonic()
        total += n


def fill(p, fd, size):
    """Seconds from the first byte in the file to the last one of size; looked at each half millisecond."""
    first = None
    while (there := os.fstat(fd).st_size) < size:
        if there and first is None:
            first = time.monotonic()
        if p.poll() is not None and os.fstat(fd).st_size < size:
            return 0
        time.sleep(0.0005)
    return time.monotonic() - (first or 0)


def once(way, reader, mib, block, vigil, state):
    command = between(way, vigil, state, [str(state / "writer"), str(mib), str(block)])
    env = {**os.environ, "VIGIL_STATE_DIR": str(state / "state")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    if reader == "pipe":
        p = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=env)
        total, seconds = drain(p.stdout.fileno())
    elif reader == "pty":
        ours, theirs = pty.openpty()
        subprocess.run(["stty", "raw", "-echo"], stdin=theirs, check=True)
        p = subprocess.Popen(command, stdout=theirs, stdin=subprocess.DEVNULL, env=env)
        os.close(theirs)
        total, seconds = drain(ours)
        os.close(ours)
    else:
        name = "/dev/null" if reader == "/dev/null" else state / "out"
        with open(name, "ab" if reader == "appended file" else "wb") as out:
            p = subprocess.Popen(command, stdout=out, stdin=subprocess.DEVNULL, env=env)
            filled = fill(p, out.fileno(), mib << 20) if name != "/dev/null" else None
            p.wait()
        total, seconds = mib << 20, filled or time.monotonic() - began
    assert p.wait() == 0 and total == mib << 20, (way, reader, p.returncode, total)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    for name in ("out", "tee.log"):
        (state / name).unlink(missing_ok=True)
    shutil.rmtree(state / "state", ignore_errors=True)
    return total / seconds / 1e9, cpu / (total / 1e9)


def latency(way, vigil, state):
    command = between(way, vigil, state, ["/usr/bin/python3", "-c", LATENCY])
    p = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                         env={**os.environ, "VIGIL_STATE_DIR": str(state / "state")})
    took = []
    rest = b""
    while got := os.read(p.stdout.fileno(), 65536):
        now = time.monotonic_ns()
        *lines, rest = (rest + got).split(b"\n")
        took += [(now - int(line)) / 1e6 for line in lines]
    assert p.wait() == 0
    shutil.rmtree(state / "state", ignore_errors=True)
    return statistics.median(took), statistics.quantiles(took, n=100)[98]


def main():
    p = argparse.ArgumentParser(description=__doc__)
    root = pathlib.Path(__file__).resolve().parents[1]
    p.add_argument("--vigil", default=str(root / "build/src/cli/vigil"))
    p.add_argument("--mib", type=int, default=4096)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--state", help="where the kept copies lie (a folder of its own is made in it)")
    p.add_argument("--only", help="one reader")
    args = p.parse_args()
    ways = ("plain", "cat", "tee FILE", "vigil")
    with tempfile.TemporaryDirectory(dir=args.state) as state:
        state = pathlib.Path(state)
        (state / "writer.c").write_text(WRITER)
        subprocess.run(["cc", "-O2", "-o", state / "writer", state / "writer.c"], check=True)
        print(f"{'reader':16}{'blocks':>8}" + "".join(f"{w:>10}" for w in ways) + "  vigil/plain  cpu s/GB plain, vigil")
        for reader, block, share in (("pipe", 65536, 1), ("pipe", 4096, 4), ("pipe", 100, 32), ("/dev/null", 65536, 1),
                                     ("file", 65536, 4), ("appended file", 65536, 4), ("pty", 65536, 64)):
            if args.only and args.only != reader:
                continue
            all_of = {w: [] for w in ways}
            for _ in range(args.rounds):
                for w in ways:
                    all_of[w].append(once(w, reader, args.mib // share, block, args.vigil, state))
            speed = {w: statistics.median(s for s, _ in all_of[w]) for w in ways}
            cpu = {w: statistics.median(c for _, c in all_of[w]) for w in ways}
            print(f"{reader:16}{block:>8}" + "".join(f"{speed[w]:10.2f}" for w in ways) +
                  f"{speed['vigil'] / speed['plain']:13.2f}{cpu['plain']:12.2f}, {cpu['vigil']:.2f}", flush=True)
        for w in ways:
            print("latency ms p50, p99  {:10}{:8.3f}{:8.3f}".format(w, *latency(w, args.vigil, state)), flush=True)


if __name__ == "__main__":
    main()
