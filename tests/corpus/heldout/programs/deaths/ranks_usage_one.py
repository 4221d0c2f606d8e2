"""Rank 1 has another command line and stops with a usage error."""
from job import *

role(f"rank{RANK}")
import argparse
p = argparse.ArgumentParser(prog="train.py")
p.add_argument("--local-rank", type=int)
p.parse_args(["--local_rank", "1"] if RANK == 1 else [])
time.sleep(20)
