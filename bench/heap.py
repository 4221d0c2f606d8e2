#!/usr/bin/python3
"""What a heap profile costs: vigil's sampler against memray, heaptrack, tracemalloc and jemalloc's own profiler.

    heap.py [--rounds N=5] [--programs a,b] [--tools a,b] [--seconds S=0] [--scale X=1] [--out FILE] [--build DIR]
    heap.py --table FILE...

Without options: everything, both tables (of the time tracemalloc and memray take most).

Each round runs every program once plain and once under each tool, in an order of its own, and takes the CPU time of
the profiled process (user and system; of heaptrack, whose helpers would be in it, the wall time). Printed, per
program: the median of tool / plain of the same round, and the best of tool / the best of plain. `control` is the program
plain once more, with the middle half of its ratios: what differs less than those do is not told apart. `pair` is
nanoseconds for one malloc(64) and free(). --seconds ends before the run that would pass it, and --out adds the
rounds to a file, so that much can be measured in slices; --table prints what files have together.
The second table is vigil's overhead as a share of a peer's that does the same: (vigil / plain - 1) / (peer / plain - 1),
medians over the rounds; `<` where vigil's is less than what the control differs by (its quartiles), which then stands for
it, `?` where the peer's is no more than that. `start` is a Python that does nothing: what of the others is start-up.
--scale makes the programs shorter or longer. memray is looked for in $VIGIL_PEERS/heap (bench/peers.sh puts it there); tools
that are not here are named.
"""
import argparse
import json
import os
import pathlib
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
PEERS = pathlib.Path(os.environ.get("VIGIL_PEERS") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "vigil-peers")
JEMALLOC = next(iter(sorted(pathlib.Path("/usr/lib").glob("*-linux-gnu/libjemalloc.so.2"))), None)

SCRIPTS = {  # SCALED(n): n times --scale
    "start": "",
    "numpy": """
import numpy as np
a = np.random.default_rng(1).random((300, 300))
for i in range(SCALED(300)):
    b = a @ a + np.sqrt(a)
    c = np.concatenate([b, a]).astype(np.float32)
""",
    "loader": """
import numpy as np
raw = bytes(range(256)) * 600
for step in range(SCALED(400)):
    batch = np.stack([np.frombuffer(bytes(bytearray(raw)), dtype=np.uint8).astype(np.float32) / 255 for _ in range(8)])
    batch.mean()
""",
    "objects": """
def tree(n):
    return {"left": tree(n - 1), "right": tree(n - 1), "items": [n] * 4} if n else {"leaf": str(n) * 3}
for i in range(SCALED(300)):
    tree(12)
""",
    "torch": """
import torch
torch.manual_seed(1)
torch.set_num_threads(1)
net = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(512, 256), torch.randint(0, 10, (512,))
for i in range(SCALED(20)):
    opt.zero_grad()
    torch.nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
""",
}
C_PROGRAMS = {"storm": ("storm", 8000000), "work": ("work", 8000000), "pair": ("pair",)}
# Who is compared with whom.
SHARES = (("vigil", "memray"), ("vigil", "memray-native"), ("vigil", "heaptrack"), ("vigil", "tracemalloc"),
          ("vigil-objects", "memray-objects"), ("vigil-objects", "tracemalloc"))


class Bench:
    def __init__(self, build, work, scale):
        self.work, self.scale = work, scale
        self.heapload = build / "bench/heapload"
        self.library = build / "preload/libvigil_heap.so"
        peer = PEERS / "heap/bin/python"
        self.python = str(peer) if peer.exists() else "/usr/bin/python3"
        self.has_memray = peer.exists() and subprocess.run([peer, "-c", "import memray"], capture_output=True).returncode == 0
        wanted = {"numpy": "numpy", "loader": "numpy", "torch": "torch"}
        self.lacking = {program: module for program, module in wanted.items() if
                        subprocess.run([self.python, "-c", f"import {module}"], capture_output=True).returncode}
        for name, text in SCRIPTS.items():
            text = re.sub(r"SCALED\((\d+)\)", lambda m: str(max(1, round(int(m[1]) * scale))), text)
            (work / f"run_{name}.py").write_text(text)

    def argv(self, program):
        if program in C_PROGRAMS:
            return [str(self.heapload), *(str(round(a * self.scale)) if isinstance(a, int) else a for a in C_PROGRAMS[program])]
        return [self.python, str(self.work / f"run_{program}.py")]

    def vigil(self, rate="524288", objects="0"):
        folder = self.work / "regions"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return {"LD_PRELOAD": str(self.library), "VIGIL_HEAP_DIR": str(folder), "VIGIL_HEAP_RATE": rate,
                "VIGIL_HEAP_OBJECTS": objects}

    def command(self, tool, program):
        """argv and environment; None: this tool does not do this program."""
        argv, c = self.argv(program), program in C_PROGRAMS
        out = str(self.work / "out")
        if tool in ("plain", "control"):
            return argv, {}
        if tool == "vigil":
            return argv, self.vigil()
        if tool == "vigil-dormant":
            return argv, self.vigil(rate="0")
        if tool == "vigil-objects":
            return (argv, self.vigil(objects="1")) if not c else None
        if tool == "heaptrack" and shutil.which("heaptrack"):
            return ["heaptrack", "-o", out, *argv], {}
        if tool in ("memray", "memray-native", "memray-objects") and self.has_memray and not c:
            more = {"memray": [], "memray-native": ["--native"], "memray-objects": ["--trace-python-allocators"]}[tool]
            return [argv[0], "-m", "memray", "run", "-q", "-f", "-o", out + ".memray", *more, *argv[1:]], {}
        if tool == "tracemalloc" and not c:
            return argv, {"PYTHONTRACEMALLOC": "25"}
        if tool in ("jemalloc", "jemalloc-prof") and JEMALLOC:
            more = {"MALLOC_CONF": f"prof:true,lg_prof_sample:19,prof_prefix:{out}"} if tool == "jemalloc-prof" else {}
            return argv, {"LD_PRELOAD": str(JEMALLOC), **more}
        return None

    def measure(self, tool, program):
        command = self.command(tool, program)
        if not command:
            return None
        argv, more = command
        env = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "PYTHONTRACEMALLOC")} | more
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(argv, env=env, cwd=self.work, capture_output=True, text=True, timeout=110)
        wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        for file in self.work.glob("out*"):
            file.unlink()
        if done.returncode:
            print(f"{tool} {program}: status {done.returncode}: {done.stderr[-300:]}", file=sys.stderr)
            return None
        if program == "pair":
            return float([w for w in done.stdout.split() if w.replace(".", "").isdigit()][0]) if tool != "heaptrack" else None
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return wall if tool == "heaptrack" else cpu  # its helpers' CPU would be in the sum


TOOLS = ("plain", "control", "vigil", "vigil-dormant", "vigil-objects", "memray", "memray-native", "memray-objects",
         "heaptrack", "tracemalloc", "jemalloc", "jemalloc-prof")


def ratios(rows, tool):
    base = "jemalloc" if tool == "jemalloc-prof" else "plain"
    return [(r[tool], r[base]) for r in rows if r.get(tool) and r.get(base)]


def cell(rows, program, tool):
    pairs = ratios(rows, tool)
    if not pairs:
        return "-"
    if tool == "plain" or program == "pair":
        return f"{statistics.median(a for a, _ in pairs):.2f}"
    of_round = [a / b for a, b in pairs]
    if tool == "control" and len(pairs) > 3:
        low, middle, high = statistics.quantiles(of_round, n=4)
        return f"{middle:.2f} ({low:.2f} to {high:.2f})"
    return f"{statistics.median(of_round):.2f}, {min(a for a, _ in pairs) / min(b for _, b in pairs):.2f}"


def table(rows):
    programs = list(rows)
    print("| median, best/best | " + " | ".join(f"{p}, ns" if p == "pair" else p for p in programs) + " |")
    print("|---" * (len(programs) + 1) + "|")
    for tool in TOOLS:
        cells = [cell(rows[p], p, tool) for p in programs]
        if any(c != "-" for c in cells):
            print(f"| {'plain, s' if tool == 'plain' else tool} | " + " | ".join(cells) + " |")
    print("| rounds | " + " | ".join(str(len(rows[p])) for p in programs) + " |")


def overhead(rows, tool):
    of_round = [a / b - 1 for a, b in ratios(rows, tool)]
    return statistics.median(of_round) if of_round else None


def noise(rows):
    """How far the program is from itself: the larger of the control's quartiles."""
    of_round = [abs(a / b - 1) for a, b in ratios(rows, "control")]
    return statistics.quantiles(of_round, n=4)[2] if len(of_round) > 3 else max(of_round, default=0.0)


def share(rows, ours, peer):
    own, other, unsure = overhead(rows, ours), overhead(rows, peer), noise(rows)
    if own is None or other is None:
        return "-"
    if other <= unsure:
        return "?"
    return f"< {unsure / other:.2f}" if own <= unsure else f"{own / other:.2f}"


def shares(rows):
    programs = [p for p in rows if p != "pair"]
    print()
    print("| vigil's overhead / peer's | " + " | ".join(programs) + " |")
    print("|---" * (len(programs) + 1) + "|")
    for ours, peer in SHARES:
        cells = [share(rows[p], ours, peer) for p in programs]
        if any(c != "-" for c in cells):
            print(f"| {ours} / {peer} | " + " | ".join(cells) + " |")
    print("| overhead that is not told from none | " + " | ".join(f"{noise(rows[p]):.3f}" for p in programs) + " |")


def read(files):
    rows = {}
    for file in files:
        for line in file.read_text().splitlines():
            for program, more in json.loads(line).items():
                rows.setdefault(program, []).extend(more)
    return rows


def rounds(bench, args):
    """One round after another; what a round lacks when the time is over is left out of it."""
    rows, begin, longest = {}, time.monotonic(), 0.0
    programs = [p for p in args.programs.split(",") if p not in bench.lacking]
    for program in set(args.programs.split(",")) - set(programs):
        print(f"not measured: {program}, since {bench.python} has no {bench.lacking[program]}", file=sys.stderr)
    if not bench.has_memray:
        print("not measured: memray, which bench/peers.sh fetches", file=sys.stderr)
    for _ in range(args.rounds):
        for program in programs:
            tools, row = args.tools.split(","), {}
            for tool in random.sample(tools, len(tools)):
                at = time.monotonic()
                if args.seconds and at - begin + longest > args.seconds:
                    return rows
                row[tool] = bench.measure(tool, program)
                longest = max(longest, time.monotonic() - at)
                if row is not (rows.get(program) or [None])[-1]:
                    rows.setdefault(program, []).append(row)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--programs", default="storm,work,start,numpy,loader,objects,torch,pair")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--build", type=pathlib.Path, default=TOP / "build")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path, nargs="+")
    args = parser.parse_args()
    if args.table:
        table(read(args.table))
        shares(read(args.table))
        return
    with tempfile.TemporaryDirectory(prefix="vigil-heap-", dir=os.environ.get("VIGIL_BENCH_DIR")) as work:
        rows = rounds(Bench(args.build.resolve(), pathlib.Path(work), args.scale), args)
    if args.out:
        with args.out.open("a") as f:
            print(json.dumps(rows), file=f)
    table(rows)
    shares(rows)


if __name__ == "__main__":
    main()
