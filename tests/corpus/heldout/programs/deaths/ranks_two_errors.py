"""Rank 1 fails; rank 2 fails of another error because it waits for rank 1's file."""
from job import *

role(f"rank{RANK}")
train(0, 20)
if RANK == 1:
    raise ValueError("tokenizer.json has no merges")
end = time.monotonic() + 0.4
while not os.path.exists("index.done"):
    if time.monotonic() > end:
        raise TimeoutError("index.done was not written by rank 1 in time")
    time.sleep(0.02)
