#!/usr/bin/env python3
"""check4.py over the programs of truth8.json, with its options."""
import sys

import cases8
import check4

if __name__ == "__main__":
    sys.exit(check4.main(cases8.CASES))
