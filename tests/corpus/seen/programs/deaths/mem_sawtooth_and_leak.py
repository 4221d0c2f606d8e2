"""A helper rises and falls, another one leaks."""
from mem import *

role("main")
def saw():
    while True:
        b = block(60)
        time.sleep(0.4)
        del b
        time.sleep(0.4)
fork("saw", saw)
fork("leaker", grow, 50)
steady()
