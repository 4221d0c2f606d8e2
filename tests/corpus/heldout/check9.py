#!/usr/bin/env python3
"""check4.py over the programs of truth9.json, with its options."""
import sys

import cases9
import check4

if __name__ == "__main__":
    sys.exit(check4.main(cases9.CASES))
