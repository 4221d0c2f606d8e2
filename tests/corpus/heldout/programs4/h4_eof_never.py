"""Feeds records to a forked counter through a pipe and closes it when the file is over."""
import os

import kit4

kit4.role("main")
r, w = os.pipe()
worker = os.fork()
if worker == 0:
    kit4.with_parent()
    counts = {}
    for line in os.fdopen(r):
        counts[line.strip()] = counts.get(line.strip(), 0) + 1
    print(counts, flush=True)
    os._exit(0)
kit4.role("worker", worker)
os.close(r)
with os.fdopen(w, "w", 1) as out:
    for k in range(12):
        kit4.crunch(0.2)
        out.write("class%d\n" % (k % 3))
os.waitpid(worker, 0)
print("vocabulary ready", flush=True)
