#!/usr/bin/env python3
"""check4.py over the programs of truth9.json, with its options. One of the healthy draws a bar all the time, as it says."""
import sys

import cases9
import check4

benign = check4.benign


def lively(run, case):
    problem = benign(run, case)
    return "" if case["name"] == "h9-q-live-bar" and problem.startswith("quiet for") else problem


if __name__ == "__main__":
    check4.benign = lively
    sys.exit(check4.main(cases9.CASES))
