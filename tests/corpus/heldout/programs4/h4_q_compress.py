"""The old checkpoints are packed by a child before training begins."""
import subprocess

import kit4

kit4.role("main")
print("packing old checkpoints", flush=True)
p = kit4.start(["sh", "-c", "head -c 100000000000 /dev/urandom | timeout 65 gzip -1 > packed.gz; rm packed.gz"], "packer", stderr=subprocess.DEVNULL)
p.wait()
print("packed", flush=True)
for i in range(10):
    kit4.crunch(0.2)
    print("step", i, flush=True)
