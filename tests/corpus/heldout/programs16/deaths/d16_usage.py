"""An evaluation is started with an option that it does not have."""
import argparse
import subprocess

from kitd16 import *

if len(sys.argv) > 1:
    parser = argparse.ArgumentParser(prog="evaluate")
    parser.add_argument("--checkpoint")
    parser.add_argument("--batch-size", type=int)
    parser.parse_args()
    sys.exit()
told(30)
sys.exit(subprocess.run([sys.executable, __file__, "--checkpoint", "last", "--num_beams", "4"]).returncode)
