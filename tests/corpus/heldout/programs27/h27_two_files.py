"""Two ranks write their samples to train.idx and valid.idx, each file under its flock. Rank 0 takes train first, rank 1, which
got its list from os.listdir, valid.

slow: both take train first; rank 0 sorts its index for 66 s while it has it."""
import fcntl
import os
import time

from kit27 import SLOW, STALL, STEPS, crunch, main, tell


def train(rank, world, port):
    names = ["train.idx", "valid.idx"]
    if rank == 1 and not SLOW:
        names.reverse()
    files = [os.open(name, os.O_RDWR | os.O_CREAT, 0o644) for name in names]
    for step in range(STEPS):
        crunch(0.2)
        if rank == step % 2 or step >= STALL:
            fcntl.flock(files[0], fcntl.LOCK_EX)
            if step >= STALL:
                time.sleep(66 if SLOW and rank == 0 and step == STALL else 1)
            fcntl.flock(files[1], fcntl.LOCK_EX)
            os.write(files[0], b"%d\n" % step)
            for f in reversed(files):
                fcntl.flock(f, fcntl.LOCK_UN)
        if rank == 0:
            tell(step, "wrote sample {step}", 10)


main(2, train)
