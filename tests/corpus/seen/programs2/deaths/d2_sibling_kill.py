import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

role(f"rank{RANK}")
steps(30)
if RANK == 0:
    pid = next(int(r.split()[1]) for r in open(os.environ["CORPUS_ROLES"]) if r.startswith("rank1"))
    os.kill(pid, signal.SIGTERM)
time.sleep(5)
