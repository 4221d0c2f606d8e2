"""A server was away for a moment, which was told with its traceback and tried again; much later a batch is empty."""
import traceback

from kitd29 import role, steps


def fetch(attempt):
    if attempt == 0:
        raise ConnectionRefusedError(111, "Connection refused")
    return "ok"


role("main")
steps(10)
for attempt in range(3):
    try:
        fetch(attempt)
        break
    except ConnectionRefusedError:
        traceback.print_exc()
        print("warning: metadata server is not there, trying again", flush=True)
steps(40, 10)
lengths = sorted([])
print("longest of batch: %d" % lengths[-1])
