"""Rank 2 reads features to the end of a pipe; its second worker has inherited the write end and waits for orders."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import time


def produce(w):
    for i in range(40):
        time.sleep(0.25)
        os.write(w, b"f" * 64)


def augment(orders):
    while os.read(orders, 1):
        time.sleep(0.1)


def run():
    group = kit.Tree()
    r, w = os.pipe()
    kit.fork_child(f"producer{kit.RANK}", produce, w)
    o_r, o_w = os.pipe()

    def second():
        os.close(o_w)
        os.close(r)
        if kit.RANK != 2:
            os.close(w)
        augment(o_r)

    kit.fork_child(f"augment{kit.RANK}", second)
    os.close(o_r)
    os.close(w)
    i = 0
    while os.read(r, 64):
        i += 1
        if i % 2 == 0 and i <= 36:
            group.barrier()
            if kit.RANK == 0:
                kit.log(i, "meter")
    group.barrier()
    os.close(o_w)


kit.main(3, run)
