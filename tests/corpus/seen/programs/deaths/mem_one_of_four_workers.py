"""One of four loader workers leaks."""
from mem import *

role("main")
for i in range(3):
    fork(f"loader{i}", lambda: (block(40), steady()))
fork("leaker", grow, 80)
steady()
