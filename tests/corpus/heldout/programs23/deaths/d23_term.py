"""A scheduler takes the machine for a job that is more urgent; the program has no handler."""
from kitd23 import role, steps

role("main")
steps(300)
