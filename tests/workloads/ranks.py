"""A rank: writes what it was told about itself to FOLDER/rank-N-attempt-M.json, then plays its part.

ranks.py FOLDER [--fail RANK:STATUS] [--kill RANK:SIGNAL] [--wait] [--first-attempt-only]

With --fail or --kill that rank ends so once all ranks have written; the others wait to be ended.
"""
import argparse
import json
import os
import pathlib
import time

NAMES = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "RESTART_COUNT")

parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--fail")
parser.add_argument("--kill")
parser.add_argument("--wait", action="store_true")
parser.add_argument("--first-attempt-only", action="store_true")
args = parser.parse_args()

rank = int(os.environ.get("RANK", "0"))
attempt = int(os.environ.get("RESTART_COUNT", "0"))
said = {name: os.environ[name] for name in NAMES if name in os.environ}
mine = args.folder / f"rank-{rank}-attempt-{attempt}.json"
mine.with_suffix(".new").write_text(json.dumps({**said, "pid": os.getpid()}))
mine.with_suffix(".new").rename(mine)
os.write(1, f"rank {rank} speaks\n".encode())  # in one piece: ranks share the pipe


def all_there():
    return len(list(args.folder.glob(f"rank-*-attempt-{attempt}.json"))) >= int(os.environ.get("WORLD_SIZE", "1"))


if args.first_attempt_only and attempt > 0:
    raise SystemExit(0)
end = time.monotonic() + 60
while not all_there() and time.monotonic() < end:
    time.sleep(0.01)
for what in (args.fail, args.kill):
    who, _, how = (what or "-1:0").partition(":")
    if int(who) == rank:
        if what == args.fail:
            os._exit(int(how))
        os.kill(os.getpid(), int(how))
if args.wait or args.fail or args.kill:
    time.sleep(60)
