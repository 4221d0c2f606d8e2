"""A trainer with loader processes, one of which keeps what it made.

leaky_loader.py [--workers N] [--leak-mib-per-s RATE] [--seconds S] [--fixed-after-restart]

Batches travel over a queue as in a data loader; the trainer holds some memory of its own, so that the
largest process is not the growing one.
"""
import argparse
import multiprocessing
import os
import time

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=2)
parser.add_argument("--leak-mib-per-s", type=float, default=100)
parser.add_argument("--seconds", type=float, default=30)
parser.add_argument("--trainer-mib", type=int, default=48)
parser.add_argument("--fixed-after-restart", action="store_true")
args = parser.parse_args()


def load(number, batches, leaks):
    kept, made, start = [], 0, time.monotonic()
    while True:
        batch = bytearray(os.urandom(4096) * 64)
        if leaks:
            while made < (time.monotonic() - start) * args.leak_mib_per_s * (1 << 20):
                kept.append(bytearray(b"\1") * (1 << 20))
                made += 1 << 20
        batches.put((number, bytes(batch[:4096])))


def main():
    ballast = bytearray(b"\1") * (args.trainer_mib << 20)
    batches = multiprocessing.Queue(maxsize=8)
    fixed = args.fixed_after_restart and int(os.environ.get("RESTART_COUNT", "0")) > 0
    workers = [multiprocessing.Process(target=load, args=(n, batches, n == 0 and not fixed), daemon=True)
               for n in range(args.workers)]
    for worker in workers:
        worker.start()
    print("ready", *(w.pid for w in workers), flush=True)
    steps, end = 0, time.monotonic() + (1 if fixed else args.seconds)
    while time.monotonic() < end:
        batches.get(timeout=10)
        steps += 1
        dead = [w for w in workers if w.exitcode is not None]
        if dead:
            raise SystemExit(f"DataLoader worker (pid {dead[0].pid}) is killed by signal: {-dead[0].exitcode}.")
    print(f"{steps > 0 and 'trained'} {len(ballast) >> 20} MiB", flush=True)


if __name__ == "__main__":
    main()
