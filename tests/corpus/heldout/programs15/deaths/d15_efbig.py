"""A log of metrics grows over the limit of a file's size (ulimit -f)."""
import resource

from kitd15 import *

role("main")
resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
with open("metrics.jsonl", "w") as f:
    for step in range(200):
        told(1, step)
        f.write('{"step": %d, "grad_norms": "%s"}\n' % (step, "0.001 " * 230))
        f.flush()
