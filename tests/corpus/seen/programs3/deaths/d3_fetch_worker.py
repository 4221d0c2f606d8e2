import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

steps(12)
class KeyErrorMessage(str):
    def __repr__(self): return str(self)
inner = """Caught KeyError in DataLoader worker process 2.
Original Traceback (most recent call last):
  File "/opt/site-packages/torch/utils/data/_utils/worker.py", line 308, in _worker_loop
    data = fetcher.fetch(index)
  File "/opt/site-packages/torch/utils/data/_utils/fetch.py", line 51, in fetch
    data = [self.dataset[idx] for idx in possibly_batched_index]
  File "/workspace/dataset.py", line 77, in __getitem__
    return row["label_id"]
KeyError: 'label_id'
"""
raise KeyError(KeyErrorMessage(inner))
