"""A child that fails and memory that is short on a device are told and overcome; the training ends well."""
import subprocess
import sys

from kitd23 import steps

steps(10)
code = subprocess.run([sys.executable, "-c", "import os; os.abort()"], stderr=subprocess.DEVNULL).returncode
print("warning: video decoder ended with %d, its file is left out" % code, file=sys.stderr, flush=True)
steps(10, 10)
print("CUDA out of memory at batch size 64, going on with 32", file=sys.stderr, flush=True)
steps(10, 20)
print("training complete: 30 steps", flush=True)
