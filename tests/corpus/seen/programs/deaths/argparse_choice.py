"""A value that is none of the choices."""
from job import *

import argparse
p = argparse.ArgumentParser(prog="train.py")
p.add_argument("--precision", choices=["fp32", "bf16"])
p.parse_args(["--precision", "fp8"])
