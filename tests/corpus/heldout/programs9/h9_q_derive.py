"""Keys for the shards are derived by calls of C that take some seconds each, a minute in all, at full speed; nothing is told meanwhile."""
import hashlib
import time

import kit9

kit9.role("main")
for k in range(12):
    kit9.crunch(0.2)
    print("part", k, "packed", flush=True)
key, end = b"key", time.monotonic() + 57
while time.monotonic() < end:
    key = hashlib.pbkdf2_hmac("sha256", key, b"salt", 1500000)
for k in range(12):
    kit9.crunch(0.2)
    print("part", k, "encrypted", flush=True)
