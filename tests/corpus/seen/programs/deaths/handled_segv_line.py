"""A probe of a GPU segfaulted and was handled."""
from job import *

p = subprocess.run([sys.executable, "-c", "import ctypes; ctypes.string_at(0)"])
print(f"probe ended with {p.returncode}, going on without it", flush=True)
train(0, 150, 0.003)
raise RuntimeError("scheduler has no warmup_steps")
