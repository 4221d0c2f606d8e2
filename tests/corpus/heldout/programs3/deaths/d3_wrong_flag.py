import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

import argparse
p = argparse.ArgumentParser(prog="train.py")
p.add_argument("--lr", type=float); p.add_argument("--fp16", action="store_true")
time.sleep(0.5)
p.parse_args(["--lr", "2e-4", "--fp61"])
