"""A wordy trainer, started by tee_ranks.sh."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import time

kit.role(f"rank{kit.RANK}")
group = kit.Star()
for i in range(1000):
    time.sleep(0.3)
    print(f"[rank {kit.RANK}] grad norms " + " ".join(f"layer{k}={1 / (k + i + 1):.6f}" for k in range(160)), flush=True)
    group.barrier()
    if kit.RANK == 0:
        kit.log(i, "info")
