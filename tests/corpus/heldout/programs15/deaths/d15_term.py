"""A trainer without a handler gets SIGTERM of somebody."""
from kitd15 import *

role("main")
told(600)
