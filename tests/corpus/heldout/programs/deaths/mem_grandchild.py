"""The child of a child leaks."""
from mem import *

role("main")
def middle():
    fork("deep", grow, 100)
    steady()
fork("middle", middle)
steady()
