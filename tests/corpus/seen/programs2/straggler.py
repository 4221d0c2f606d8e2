"""Eight ranks meet every seven seconds or so: rank 6 sits on a throttled core and works in small slices."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import time


def work(seconds):
    end, x = time.time() + seconds, 0
    while time.time() < end:
        x += sum(range(3000))
        time.sleep(0.03)


def run():
    group = kit.Tree()
    for i in range(11):
        if kit.RANK == 6:
            work(kit.secs(7))
        else:
            time.sleep(0.5)
        group.barrier()
        if kit.RANK == 0 and i % 5 == 0:
            kit.log(i, "iter")


kit.main(8, run)
