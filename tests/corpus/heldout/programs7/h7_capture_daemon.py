"""Before the second epoch a script is run for its output. It has ended; the daemon that it started has its output open and stays."""
import os
import subprocess
import sys
import time

import kit7

if sys.argv[1:]:
    if os.fork() == 0:
        kit7.role("daemon")
        parent = int(sys.argv[1])
        while os.path.exists("/proc/%d" % parent):
            time.sleep(1)
    print("mounted /data/cache")
    sys.exit(0)
kit7.role("main")
for step in range(20):
    kit7.crunch(0.2)
    print("Epoch 1/2 step %d/20 - loss: %.4f" % (step + 1, 2 / (step + 1)), flush=True)
print(subprocess.run([sys.executable, __file__, str(os.getpid())], capture_output=True, text=True).stdout)
