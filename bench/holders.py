#!/usr/bin/env python3
"""Who holds a lock by `with`, read from outside, against random programs that know: every Python of this machine.

    bench/holders.py [PROGRAMS [SEED [WORD]]]     10,000 a Python unless told; WORD: only Pythons with it in their label
"""
import pathlib
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TOP / "tests"), str(TOP / "tests/e2e")]
import holderkit  # noqa: E402
import pythons  # noqa: E402


def main():
    programs = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    word = sys.argv[3] if len(sys.argv) > 3 else ""
    bad = 0
    for python in pythons.find():
        if python.free_threaded or word not in python.label:
            continue
        began = time.monotonic()
        n, faults = holderkit.check(python, TOP / "build/tests/tool/pywaits", programs, seed)
        bad += len(faults)
        print(f"{python.label}: {n['programs']} programs, {n['told']} of {n['needed']} held by with told, {n['sure']} of "
              f"them for certain, {n['wrong']} wrong, {n['us'] / max(1, n['programs']):.0f} us a thread, "
              f"{time.monotonic() - began:.0f} s", flush=True)
        for text in faults[:3]:
            print(text, file=sys.stderr)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
