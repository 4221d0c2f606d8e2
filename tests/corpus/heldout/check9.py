#!/usr/bin/env python3
"""check4.py over the programs of truth9.json, with its options. --stay SECONDS: a hang has to be there still, and as told, after so long.

One of the healthy draws a bar all the time, as it says."""
import sys
import time

import cases9
import check4

benign, hang = check4.benign, check4.hang


def lively(run, case):
    problem = benign(run, case)
    return "" if case["name"] == "h9-q-live-bar" and problem.startswith("quiet for") else problem


def staying(seconds):
    def stays(run, case):
        end = run.begin + seconds
        while run.process.poll() is None and time.monotonic() < end:
            time.sleep(1)
        return hang(run, case)
    return stays


def main():
    check4.benign = lively
    if "--stay" in sys.argv:
        at = sys.argv.index("--stay")
        check4.hang = staying(float(sys.argv[at + 1]))
        del sys.argv[at:at + 2]
    return check4.main(cases9.CASES)


if __name__ == "__main__":
    sys.exit(main())
