#!/usr/bin/env python3
"""slow6/check6.py over the jobs of truth_slow8.json, with its options."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "slow6")]
import cases8  # noqa: E402
import check6  # noqa: E402

if __name__ == "__main__":
    check6.HERE, check6.cases6.CASES = HERE, cases8.CASES
    sys.exit(check6.main())
