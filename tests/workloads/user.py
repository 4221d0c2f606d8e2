"""Uses what it is told, so that what was measured can be compared.

user.py [--cores N] [--mib N] [--write MIB_PER_S] [--children N] [--seconds S]

Each core is a process that does nothing but count; --children sleep. Numbers that RANK gives: "0.5,0" for rank 0 and 1.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("--cores", default="0")
parser.add_argument("--mib", default="0")
parser.add_argument("--write", default="0", help="MiB a second")
parser.add_argument("--children", default="0")
parser.add_argument("--seconds", type=float, default=3)
args = parser.parse_args()
rank = int(os.environ.get("RANK", "0"))


def mine(text):
    words = text.split(",")
    return float(words[min(rank, len(words) - 1)])


SPIN = "import time\nend = time.monotonic() + float(__import__('sys').argv[1])\nwhile time.monotonic() < end: pass"
end = time.monotonic() + args.seconds
started = [subprocess.Popen([sys.executable, "-c", SPIN, str(args.seconds)]) for _ in range(int(mine(args.cores)))]
started += [subprocess.Popen(["sleep", str(args.seconds)]) for _ in range(int(mine(args.children)))]
held = bytearray(int(mine(args.mib)) << 20)
for page in range(0, len(held), 4096):
    held[page] = 1
print("ready", flush=True)
with tempfile.TemporaryFile() as file:
    piece = os.urandom(1 << 20)
    wrote = 0
    while time.monotonic() < end:
        ahead = args.seconds - (end - time.monotonic())
        while wrote < ahead * mine(args.write):
            file.write(piece)
            file.flush()
            wrote += 1
        time.sleep(0.02)
for child in started:
    child.wait()
