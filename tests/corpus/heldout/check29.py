#!/usr/bin/env python3
"""check4.py over the programs of truth29.json, with its options. --stay SECONDS: a hang has to be there still, and
as told, after so long.

py-spy has to be in PATH, or beside the --python, for the frames."""
import sys

import cases29
import check4
import check9


def main():
    if "--stay" in sys.argv:
        at = sys.argv.index("--stay")
        check4.hang = check9.staying(float(sys.argv[at + 1]))
        del sys.argv[at:at + 2]
    return check4.main(cases29.CASES)


if __name__ == "__main__":
    sys.exit(main())
