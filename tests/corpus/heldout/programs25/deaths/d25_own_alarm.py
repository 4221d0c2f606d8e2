"""A limit of time for an epoch, by alarm(), with no handler any more."""
import signal

from kitd25 import role, steps

role("main")
signal.alarm(4)
steps(300)
