"""A launcher of its own: rank 2 fails by an assert, it ends the others with SIGTERM and leaves with 1."""
import os
import subprocess
import sys
import time

from kitd28 import role, steps

if "work" in sys.argv:
    rank = int(os.environ["RANK"])
    role("rank%d" % rank)
    for k in range(40):
        time.sleep(0.1)
        if rank == 0 and k % 5 == 0:
            print("step %d loss 0.5" % k, flush=True)
        assert rank != 2 or k < 30, "vocab_size 32000 != 32001 of the tokenizer"
    time.sleep(60)
else:
    role("main")
    steps(2)
    ps = [subprocess.Popen([sys.executable, sys.argv[0], "work"], env=dict(os.environ, RANK=str(r), WORLD_SIZE="3")) for r in range(3)]
    while all(p.poll() is None for p in ps):
        time.sleep(0.05)
    for p in ps:
        if p.poll() is None:
            p.terminate()
    for p in ps:
        p.wait()
    sys.exit(1)
