#!/usr/bin/env python3
"""check4.py over the programs of truth11.json, with its options. --stay SECONDS: a hang has to be there still, and as told, after so long.

Those in TALK are healthy and never quiet: what is odd about them is a process that has nothing to do, or is stopped."""
import sys

import cases11
import check4
import check9

benign = check4.benign
TALK = ("h11-q-spare", "h11-q-stopped")


def lively(run, case):
    problem = benign(run, case)
    return "" if case["name"] in TALK and problem.startswith("quiet for") else problem


def main():
    check4.benign = lively
    if "--stay" in sys.argv:
        at = sys.argv.index("--stay")
        check4.hang = check9.staying(float(sys.argv[at + 1]))
        del sys.argv[at:at + 2]
    return check4.main(cases11.CASES)


if __name__ == "__main__":
    sys.exit(main())
