"""Six ranks in a chain: each works 12 s in turn while all others wait."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import time


def work(n):
    end = time.time() + n
    while time.time() < end:
        sum(range(10000))
        time.sleep(0.05)


def run():
    group = kit.Ring()
    for i in range(12):
        time.sleep(0.25)
        group.barrier()
        if kit.RANK == 0:
            kit.step(i)
    if kit.RANK:
        kit.recv_msg(group.left)
    work(kit.secs(11))
    kit.send_msg(group.right, "turn")
    if kit.RANK == 0:
        kit.recv_msg(group.left)
        kit.step(12)
    group.barrier()


kit.main(6, run)
