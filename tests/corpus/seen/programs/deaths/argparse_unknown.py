"""An option that argparse does not know."""
from job import *

import argparse
p = argparse.ArgumentParser(prog="train.py")
p.add_argument("--lr", type=float)
p.parse_args(["--learning-rate", "0.1"])
