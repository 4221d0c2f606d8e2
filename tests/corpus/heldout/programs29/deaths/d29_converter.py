"""A converter that is called between epochs crashes; its parent tells it as CalledProcessError."""
import subprocess
import sys

from kitd29 import role, steps

CONVERTER = "import ctypes; print('converting 17 tensors', flush=True); ctypes.string_at(16)"

role("main")
steps(25)
subprocess.run([sys.executable, "-c", CONVERTER], check=True)
