"""It stops early, as it should, after a worker that failed was replaced."""
import subprocess
import sys

from kitd25 import role, steps

role("main")
steps(10)
subprocess.run([sys.executable, "-c", "raise ValueError('worker 3: broken image')"])
print("worker 3 failed, started anew", flush=True)
steps(20, 10)
print("no better loss for 10 steps, stopping early", flush=True)
