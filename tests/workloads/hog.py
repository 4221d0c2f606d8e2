"""Takes memory and touches it.

hog.py MIB [--rate MIB_PER_S] [--first-attempt-only] [--ignore-term] [--shared] [--hold SECONDS]
"""
import argparse
import mmap
import os
import signal
import time

STEP = 4 << 20

parser = argparse.ArgumentParser()
parser.add_argument("mib", type=int)
parser.add_argument("--rate", type=float, default=0, help="MiB a second; 0: as fast as it goes")
parser.add_argument("--first-attempt-only", action="store_true", help="take nothing once RESTART_COUNT is above 0")
parser.add_argument("--ignore-term", action="store_true")
parser.add_argument("--shared", action="store_true", help="in shared mappings, which count as nobody's own")
parser.add_argument("--hold", type=float, default=0, help="keep it so long")
args = parser.parse_args()

if args.ignore_term:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if args.first_attempt_only and int(os.environ.get("RESTART_COUNT", "0")) > 0:
    print("nothing taken", flush=True)
    raise SystemExit(0)

kind = mmap.MAP_SHARED if args.shared else mmap.MAP_PRIVATE
blocks, start = [], time.monotonic()
while len(blocks) * STEP < args.mib << 20:
    block = mmap.mmap(-1, STEP, flags=kind | mmap.MAP_ANONYMOUS)
    for page in range(0, STEP, mmap.PAGESIZE):
        block[page] = 1
    blocks.append(block)
    if args.rate:
        ahead = len(blocks) * STEP / (args.rate * (1 << 20)) - (time.monotonic() - start)
        time.sleep(max(0, ahead))
print("ready", flush=True)
time.sleep(args.hold)
