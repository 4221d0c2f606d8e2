"""Main waits for the end of a cleaning tool. The tool asks whether it may delete old checkpoints, and reads the answer from a pipe that main has."""
import subprocess
import sys

import kit7

if sys.argv[1:]:
    print("delete 12 old checkpoints? [y/N]", flush=True)
    sys.exit(sys.stdin.readline() != "y\n")
kit7.role("main")
log = kit7.logger(path="train.log")
for step in range(20):
    kit7.crunch(0.2)
    log.info("step %d loss %.4f", step, 2 / (step + 1))
with open("clean.log", "w") as out:
    kit7.start([sys.executable, __file__, "clean"], "cleaner", stdin=subprocess.PIPE, stdout=out).wait()
