"""Ring all-reduce; every tenth step the parameters are compared, in a path that receives before it sends."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import time

group = None


def exchange(x):
    kit.send_msg(group.right, x)
    return kit.recv_msg(group.left)


def sync_params(digest):
    # other order than in exchange()
    other = kit.recv_msg(group.left)
    kit.send_msg(group.right, digest)
    return other == digest


def run():
    global group
    group = kit.Ring()
    for i in range(1000):
        time.sleep(0.3)
        tot = x = i + kit.RANK
        for _ in range(kit.WORLD - 1):
            x = exchange(x)
            tot += x
        kit.step(i, 1 / (1 + i))
        if i == 12:
            assert sync_params("abc")


kit.main(4, run)
