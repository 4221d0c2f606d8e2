"""A scheduler's warning, SIGUSR1, comes to a program that does not expect it."""
from kitd17 import *

role("main")
told(200)
