"""A launcher of its own: worker 1 fails, the launcher ends worker 0 by SIGTERM, and leaves with 1."""
import subprocess
import sys
import time

from kitd27 import role, steps

if len(sys.argv) > 1:
    role("worker" + sys.argv[1])
    steps(30)
    if sys.argv[1] == "1":
        raise FloatingPointError("grad norm is nan at step 30")
    steps(400, 30)
else:
    role("main")
    workers = [subprocess.Popen([sys.executable, __file__, str(n)]) for n in range(2)]
    while all(w.poll() is None for w in workers):
        time.sleep(0.1)
    for w in workers:
        w.terminate()
    print("launcher: codes", [w.wait() for w in workers], flush=True)
    sys.exit(1)
