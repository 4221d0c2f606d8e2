"""A thread dies of an error, the main one only says that the queue is closed."""
from job import *

import queue
q = queue.Queue()
def reader():
    try:
        time.sleep(0.2)
        raise ValueError("record 991 has 3 fields, expected 4")
    finally:
        q.put(None)
threading.Thread(target=reader).start()
train(0, 5)
if q.get() is None:
    print("input queue was closed, leaving", flush=True)
    sys.exit(1)
