"""A training leaves with 7 and has said only why it thinks so, by its log: the licence of the data has ended."""
import sys

from kitd28 import role, steps

role("main")
steps(20)
print("ERROR: the data licence expired on 2026-11-30, leaving", flush=True)
sys.exit(7)
