"""A loader worker hands its error on, as PyTorch words it."""
from job import *

train(0, 30)
raise KeyError("Caught KeyError in DataLoader worker process 2.\nOriginal Traceback (most recent call last):\n"
               "  File \"/opt/torch/utils/data/_utils/worker.py\", line 308, in _worker_loop\n    data = fetcher.fetch(index)\n"
               "  File \"dataset.py\", line 41, in __getitem__\n    return self.rows[i][\"caption\"]\nKeyError: 'caption'\n")
