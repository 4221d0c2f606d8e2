"""Ends well: it kills a hanging worker itself and starts another, and logs an error that it gets over."""
import logging
import subprocess

from kitd15 import *

role("main")
told(40)
worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
time.sleep(2)
logging.error("FATAL: worker 0 does not answer, killing it (SIGKILL)")
worker.kill()
worker.wait()
try:
    raise RuntimeError("CUDA error: out of memory")
except RuntimeError:
    logging.exception("batch skipped")
told(40, 40)
print("training complete", flush=True)
