"""Prints ready and its pid, then sleeps SECONDS (60)."""
import os
import sys
import time

print("ready", os.getpid(), flush=True)
time.sleep(float(sys.argv[1]) if len(sys.argv) > 1 else 60)
