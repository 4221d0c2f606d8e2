import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

say("Usage: train.py [OPTIONS]\nTry 'train.py --help' for help.\n\nError: Invalid value for '--epochs': 'ten' is not a valid integer.")
sys.exit(2)
