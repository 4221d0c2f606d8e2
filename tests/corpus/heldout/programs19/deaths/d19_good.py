"""A probe of a fast library crashes, and a worker is killed for taking too long: both are done in another way."""
from kitd19 import *

PROBE = "import ctypes; print('probing the fast kernels', flush=True); ctypes.string_at(8)"

fast = subprocess.run([sys.executable, "-c", PROBE]).returncode == 0
say("fast kernels: %s" % ("yes" if fast else "Segmentation fault in the probe, using the plain ones"))
told(20)
worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
time.sleep(1)
worker.kill()
say("worker died of signal %d, its shard is loaded here" % -worker.wait())
told(20, 20)
print("finished: 40 steps", flush=True)
