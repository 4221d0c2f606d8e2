"""Each of four ranks tokenises its part under one file lock, 16 s each: the last waits for most of a minute."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import fcntl
import time


def run():
    group = kit.Star()
    with open(kit.tmp("tokens.lock"), "a") as f:
        fcntl.lockf(f, fcntl.LOCK_EX)
        for k in range(80):
            sum(range(30000))
            time.sleep(kit.secs(0.2))
        fcntl.lockf(f, fcntl.LOCK_UN)
    for i in range(15):
        time.sleep(0.3)
        group.barrier()
        if kit.RANK == 0:
            kit.log(i, "plain")


kit.main(4, run)
