import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

logging.basicConfig(level=logging.INFO)
log = logging.getLogger("train")
for k in range(12):
    steps(2, 2 * k)
    log.info("lr %d", "2e-4")
sys.exit("no checkpoint found in runs/exp7, pass --resume none to begin anew")
