"""Ends well: a child fails twice by a signal and is started again, and an error is logged with its traceback."""
import os
import subprocess
import sys
import traceback

from kitd28 import role, steps

role("main")
steps(10)
for attempt in range(3):
    code = subprocess.call([sys.executable, "-c", "import os\nos.kill(os.getpid(), 11 if %d < 2 else 0)" % attempt])
    print("export attempt %d: %d" % (attempt, code), flush=True)
try:
    {}["ema"]
except KeyError:
    traceback.print_exc()
steps(20, 10)
print("done", flush=True)
os._exit(0)
