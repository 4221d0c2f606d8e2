"""Errors that are met, told and got over; the job ends well."""
from kitd10 import *

epochs(5)
for k in range(3):
    try:
        raise ConnectionResetError(104, "Connection reset by peer")
    except OSError:
        traceback.print_exc()
        say("upload failed (attempt %d of 3)" % (k + 1))
    time.sleep(0.3)
p = subprocess.run([sys.executable, "-c", "import os; os.abort()"])
say("profiler ended with %d, going on without" % p.returncode)
epochs(5)
print("model saved to out/model.safetensors", flush=True)
