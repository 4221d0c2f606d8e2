"""Between two phases everything rests for 80 s, as the plan says: the device has to cool down. A bar of tqdm stands meanwhile."""
import time

from tqdm import tqdm

import kit7

kit7.role("main")
for n in tqdm(range(40), desc="burn-in"):
    if n == 20:
        time.sleep(80)
    kit7.crunch(0.2)
