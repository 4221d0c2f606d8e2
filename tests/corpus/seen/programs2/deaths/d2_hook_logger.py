import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
lg = logging.getLogger("trainer")
def hook(*info):
    lg.critical("Uncaught exception, run aborted", exc_info=info)
    lg.info("Sentry is attempting to send 2 pending events")
    lg.info("Waiting up to 2 seconds")
sys.excepthook = hook
steps(6, "info")
raise ValueError("embed_dim 770 must be divisible by num_heads 12")
