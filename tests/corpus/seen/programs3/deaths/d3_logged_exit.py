import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
log = logging.getLogger("trainer")
try:
    steps(15)
    {}["tokenizer"]["pad_id"]
except Exception as e:
    log.error("training failed in epoch 3: missing key %s in data/config.yaml", e)
    log.info("closing 4 shards")
    log.info("goodbye")
    sys.exit(1)
