"""KeyboardInterrupt raised by the program, no signal came."""
from job import *

train(0, 4)
raise KeyboardInterrupt
