"""A trainer that works: trainer.py [SECONDS [MODE]]; MODE deaf ignores SIGTERM, quiet prints nothing."""
import sys
from job import *

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
mode = sys.argv[2] if len(sys.argv) > 2 else ""
if mode == "deaf":
    signal.signal(signal.SIGTERM, lambda *_: print("SIGTERM: still in the middle of a step", flush=True))
role("trainer")
end, i = time.monotonic() + seconds, 0
while time.monotonic() < end:
    if mode != "quiet":
        print(f"step {i} loss {2.0 / (1 + i / 10):.4f}", flush=True)
    i += 1
    time.sleep(0.1)
