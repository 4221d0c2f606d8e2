"""A job without nohup, whose terminal is closed by somebody."""
from kitd18 import *

role("main")
told(600)
