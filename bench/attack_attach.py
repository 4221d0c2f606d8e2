#!/usr/bin/env python3
"""Signals to vigil at random moments of a look into a living program: how often does the program die, or stand?

attack_attach.py [--build BUILD] [--times N] [--seconds S] [--signals INT,TERM,HUP,KILL] [MANNER ...]

MANNER: attach and detach (vigil heap), stack and flame (--native). N trials of each manner and signal, as many as fit
into S seconds. "reached" are those that met vigil alive. docs: bench/README.md.
"""
import argparse
import pathlib
import signal
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/e2e"))
from attackkit import MANNERS, Attack, Tally  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--times", type=int, default=250)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--signals", default="INT,TERM,HUP")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("manners", nargs="*", default=MANNERS, metavar="MANNER")
    args = parser.parse_args()
    numbers = [signal.Signals[f"SIG{name}"] for name in args.signals.split(",")]
    until = time.monotonic() + args.seconds
    bad = False
    print(f"{'manner':8} {'signal':8} trials reached  died stood")
    with tempfile.TemporaryDirectory() as folder:
        for manner in args.manners:
            attack = Attack(args.build / "src/cli/vigil", manner, folder, pathlib.Path(folder) / "state", args.seed)
            tallies = {number: Tally() for number in numbers}
            for _ in range(args.times):
                for number in numbers:
                    if time.monotonic() < until:
                        attack.trial(number, tallies[number])
            attack.close()
            for number, t in tallies.items():
                bad = bad or t.died + t.stood > 0
                print(f"{manner:8} {number.name:8} {t.trials:6} {t.reached:7} {t.died:5} {t.stood:5}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
