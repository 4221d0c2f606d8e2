"""Rank 2 evaluates for 66 s in native code by short calls, the others wait for its number; all under an agent with logs in files."""
import hashlib
import time

import kit6


def train(rank, world, port):
    total = kit6.Reducer()
    for step in range(30):
        kit6.crunch(0.15)
        end = time.time() + 66
        while (rank, step) == (2, 12) and time.time() < end:
            hashlib.pbkdf2_hmac("sha256", b"word", b"salt", 200000)
        total.sum(step)
        print("step", step, flush=True)


kit6.reducer(3)
kit6.ranks(3, train, "agent")
