"""A list of dicts of samples that is never emptied."""
from mem import *

role("main")
rows, i = [], 0
while True:
    rows += [{"id": i + k, "text": f"sample {i + k} " * 8, "label": k % 10} for k in range(1000)]
    i += 1000
    if i % 50000 == 0:
        print(f"step {i // 1000}", flush=True)
        time.sleep(0.05)
