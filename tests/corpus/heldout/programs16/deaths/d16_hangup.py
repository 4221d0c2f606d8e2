"""The terminal is closed: somebody sends SIGHUP to the training."""
from kitd16 import *

role("main")
told(300)
