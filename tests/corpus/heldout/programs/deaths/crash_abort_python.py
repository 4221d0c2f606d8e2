"""Os.abort after a fatal line."""
from job import *

train(0, 50)
print("F0105 10:00:00 xla_client.cc:88] Check failed: device_count > 0 (0 vs. 0)", file=sys.stderr, flush=True)
os.abort()
