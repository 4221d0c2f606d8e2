"""One trainer with a bar of tqdm; every 30th batch is the first of a shard and takes 3 s."""
from tqdm import tqdm

import kits8

laps = kits8.Laps(0)
kits8.role("main")
for step in tqdm(range(100000), desc="train"):
    kits8.disk(3 if step % 30 == 29 else 0.3)
    kits8.work(0.08)
    laps.mine()
    laps.done()
    if kits8.over(170):
        break
