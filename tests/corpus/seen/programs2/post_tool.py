"""One process: after its steps it runs an export tool for a minute and waits for all of its output."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import subprocess
import time

CODE = """
import sys, time
for k in range(60):
    sum(i * i for i in range(30000))
    time.sleep(float(sys.argv[1]))
print('exported 60 graphs')
"""

kit.role("main")
for i in range(20):
    time.sleep(0.3)
    kit.log(i, "keras")
out = subprocess.run([sys.executable, "-c", CODE, str(kit.secs(1))], capture_output=True, text=True, check=True).stdout
print(out, end="", flush=True)
