"""Captures the output of a script whose helper sleeps for 65 s in the background and then ends, with the output open."""
import subprocess

import kit7

kit7.role("main")
for step in range(15):
    kit7.crunch(0.2)
    print("Epoch 1/2 step %d/15 - loss: %.4f" % (step + 1, 2 / (step + 1)), flush=True)
print(subprocess.run(["sh", "-c", "sleep 65 & echo settled"], capture_output=True, text=True).stdout, flush=True)
