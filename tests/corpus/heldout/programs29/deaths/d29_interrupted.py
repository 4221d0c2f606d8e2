"""Somebody interrupts it from another terminal."""
from kitd29 import role, steps

role("main")
steps(2000)
