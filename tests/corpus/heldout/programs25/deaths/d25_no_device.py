"""The program says itself that it cannot go on."""
import sys

from kitd25 import role, steps

role("main")
steps(6)
sys.exit("no accelerator is visible after resume; set DEVICE=cpu to go on without")
