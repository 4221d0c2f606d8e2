"""Fetches a repository with a child that reports bytes into a file, then trains."""
import subprocess
import sys

import kit4

CODE = """
import time
for k in range(130):
    print('receiving objects: %d/130' % k, flush=True)
    time.sleep(0.5)
"""
kit4.role("main")
print("cloning", flush=True)
with open("clone.log", "w") as log:
    subprocess.check_call([sys.executable, "-c", CODE], stdout=log)
for i in range(10):
    kit4.crunch(0.2)
    print("step", i, flush=True)
