"""One trainer with a bar of tqdm. From now on it writes its whole history as JSON after each step."""
import json

from tqdm import tqdm

import kits8


def write_history(rows):
    with open("history.json", "w") as f:
        json.dump(rows, f, indent=1)


laps, rows = kits8.Laps(0), [{"step": n, "loss": n * 0.37, "lr": 3e-4} for n in range(80000)]
kits8.role("main")
for step in tqdm(range(100000), desc="train"):
    kits8.disk(0.25)
    kits8.work(0.08)
    if kits8.slow():
        write_history(rows)
    laps.mine()
    laps.done()
    if kits8.over():
        break
