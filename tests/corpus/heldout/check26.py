#!/usr/bin/env python3
"""check4.py over the programs of truth26.json, with its options. --stay SECONDS: a hang has to be there still, and as
told, after so long. py-spy has to be in PATH, or beside the --python, for the frames.

Launchers print warnings, and PyTorch and Ray start slowly: a hang has 120 s to get there."""
import sys
import time

import cases26
import check4
import check9


def hang(run, case):
    """check4.hang with more time."""
    end, bad = time.monotonic() + 120, {"": "nothing looked at"}
    while bad and time.monotonic() < end:
        time.sleep(1)
        if run.process.poll() is not None:
            return f"ended with {run.process.returncode}: {run.output()[-600:]}"
        bad = check4.looks(run, case["see"])
    if "Traceback" in run.output() and not case.get("loud"):
        bad["output"] = run.output()[-600:]
    return "; ".join(f"{k}: {v}" for k, v in bad.items())


def main():
    check9.hang = check4.hang = hang
    if "--stay" in sys.argv:
        at = sys.argv.index("--stay")
        check4.hang = check9.staying(float(sys.argv[at + 1]))
        del sys.argv[at:at + 2]
    return check4.main(cases26.CASES)


if __name__ == "__main__":
    sys.exit(main())
