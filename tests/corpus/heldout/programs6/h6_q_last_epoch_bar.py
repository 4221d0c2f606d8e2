"""A bar over epochs: each of the last takes 24 s of arithmetic and sleeping, nothing is drawn in between."""
from tqdm import tqdm

import kit6

kit6.role("main")
for epoch in tqdm(range(13), desc="epochs", ncols=70):
    for _ in range(24 if epoch > 9 else 1):
        kit6.crunch(1 if epoch > 9 else 0.4)
