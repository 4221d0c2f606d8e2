"""A required option is missing."""
from job import *

import argparse
p = argparse.ArgumentParser(prog="train.py")
p.add_argument("--data", required=True)
p.parse_args([])
