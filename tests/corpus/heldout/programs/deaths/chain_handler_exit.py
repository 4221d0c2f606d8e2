"""A handler prints the error and leaves with 1."""
from job import *

import logging
logging.basicConfig()
train(0, 6)
try:
    raise ConnectionError("dataset server 10.0.0.7:9000 refused the shard list")
except ConnectionError:
    logging.exception("training failed")
    sys.exit(1)
