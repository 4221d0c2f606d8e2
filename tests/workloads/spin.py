"""Burns CPU in a known way: three quarters in heavy(), one in light(). --by-rank: rank 0 only heavy, others only light.

The quarters are of its own CPU time: by the clock, a busy machine would give heavy() and light() the same again and
again.
"""
import argparse
import os
import time
import zlib


def burn(seconds):
    end = time.thread_time() + seconds
    n = 0
    while time.thread_time() < end:
        for _ in range(200):
            n += 1
    return n


def squeeze(seconds):
    end = time.thread_time() + seconds
    data = os.urandom(1 << 20)
    while time.thread_time() < end:
        zlib.compress(data, 9)


def heavy(work, seconds):
    work(seconds)


def light(work, seconds):
    work(seconds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--native", action="store_true", help="in zlib instead of in Python")
    parser.add_argument("--by-rank", action="store_true")
    args = parser.parse_args()
    work = squeeze if args.native else burn
    rank = int(os.environ.get("RANK", "0"))
    print("begun", flush=True)
    end = time.monotonic() + args.seconds
    while time.monotonic() < end:
        if not args.by_rank or rank == 0:
            heavy(work, 0.03)
        if not args.by_rank or rank != 0:
            light(work, 0.01)


if __name__ == "__main__":
    main()
