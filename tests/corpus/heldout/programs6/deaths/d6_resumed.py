from kitd6 import *
links = joined(3)
last = 6 if RANK == 2 else 40   # its checkpoint was of a longer run
for e in range(1, 40):
    if e == last:
        print(f"rank {RANK}: nothing left to train, checkpoint is at the last epoch", flush=True)
        sys.exit(0)
    epochs(1, e)
    exchange(links)
