"""Cleans text with a regular expression that backtracks a lot: slow, and silent."""
import re
import time

import kit4

kit4.role("main")
print("cleaning", flush=True)
pattern, end, n = re.compile(r"(a+)+b"), time.time() + 62, 0
while time.time() < end:
    pattern.match("a" * 20)
    n += 1
print("%d lines cleaned" % n)
