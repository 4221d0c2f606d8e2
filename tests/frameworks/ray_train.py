"""A few Ray tasks, one of which takes memory until somebody ends it.

ray_train.py FOLDER [--leak always|first|never] [--retries N] [--steady N] [--ray-monitor RATIO] [--address A]
             [--name NAME] [--fail]
"""
import argparse
import json
import os
import pathlib
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--leak", choices=("always", "first", "never"), default="never")
parser.add_argument("--retries", type=int, default=0)
parser.add_argument("--steady", type=int, default=2, help="how many tasks run beside the leaking one")
parser.add_argument("--ray-monitor", type=float, default=0)
parser.add_argument("--address", default="local")
parser.add_argument("--name", default="leak", help="of the leaking task")
parser.add_argument("--fail", action="store_true", help="end as the leaking task does")
args = parser.parse_args()
# Ray's own monitor. Set here and not outside, because vigil listens to these variables as well.
os.environ["RAY_memory_monitor_refresh_ms"] = "250" if args.ray_monitor else "0"
if args.ray_monitor:
    os.environ["RAY_memory_usage_threshold"] = str(args.ray_monitor)

import ray  # noqa: E402  reads the environment

MIB = 1 << 20


def say(text):
    """In one piece: Ray's own threads print into the same output."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


@ray.remote(num_cpus=1, max_retries=args.retries)
def leak(folder, when):
    attempt = sum(1 for _ in folder.glob("attempt-*"))
    (folder / f"attempt-{attempt}").write_text(str(os.getpid()))
    kept, end = [], time.monotonic() + 60
    while (when == "always" or attempt == 0) and when != "never" and time.monotonic() < end:
        kept.append(b"x" * (8 * MIB))
        time.sleep(0.02)
    return f"leak {attempt}"


@ray.remote(num_cpus=1, max_retries=0)
def steady(folder, number):
    block, end = b"x" * (32 * MIB), time.monotonic() + 60
    while not (folder / "go").exists() and time.monotonic() < end:
        time.sleep(0.02)
    return f"steady {number} {len(block)} {os.getpid()}"


if args.address == "local":
    ray.init(num_cpus=1 + args.steady, object_store_memory=80 * MIB, include_dashboard=False, _node_ip_address="127.0.0.2")
else:
    ray.init(address=args.address)
quiet = [steady.remote(args.folder, n) for n in range(args.steady)]
leaking = leak.options(name=args.name).remote(args.folder, args.leak)
try:
    say(ray.get(leaking))
except ray.exceptions.WorkerCrashedError as e:
    say(f"the driver was told: {type(e).__name__}")
    if args.fail:
        raise
(args.folder / "go").touch()
say("\n".join(ray.get(quiet)))
nodes = ray.nodes()  # asks the gcs, which must be alive
say(json.dumps({"alive": [n["Alive"] for n in nodes]}))
