"""A tool that turns logs over tells the trainer by SIGUSR2 to open its own anew: the trainer has no handler for it."""
from kitd19 import *

role("main")
told(600)
