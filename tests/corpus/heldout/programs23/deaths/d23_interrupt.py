"""Somebody interrupts the training, as by Ctrl-C."""
from kitd23 import role, steps

role("main")
steps(300)
