"""Two ranks share a cache. Rank 0 locks the model's file (flock) and waits for the tokenizer's mark, which rank 1 makes; rank 1
wants the model's lock to see whether the model is there before it fetches the tokenizer.

slow: rank 0 holds the lock while the model comes for 66 s."""
import fcntl
import os
import time

from kit28 import SLOW, STALL, STEPS, Star, compute, main, tell


def fetch_model():
    with open("model.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if SLOW:
            with open("model.part", "wb") as f:
                for _ in range(66):
                    f.write(b"m" * 16384)
                    f.flush()
                    time.sleep(1)
        else:
            while not os.path.exists("tokenizer.done"):
                time.sleep(0.5)


def fetch_tokenizer():
    time.sleep(1)
    with open("model.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
    with open("tokenizer.done", "w"):
        pass


def body(rank, world, port):
    star = Star(rank, world)
    for step in range(STEPS):
        compute()
        star.mean("grad/%d" % step, 0.5)
        if rank == 0:
            tell(step, "it")
        if step == STALL:
            fetch_model() if rank == 0 else fetch_tokenizer()


main(2, body)
