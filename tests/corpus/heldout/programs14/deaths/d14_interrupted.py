"""Somebody sends SIGINT, the trainer saves nothing and ends by KeyboardInterrupt."""
from kitd14 import *

signal.signal(signal.SIGINT, signal.default_int_handler)
told(50)
role("main")
told(600, 50)
