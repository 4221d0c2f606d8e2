"""Rank 3 is a spare: it waits the whole job long for a call that comes only at the end. The others work."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import time


def run():
    to = kit.Mesh().to
    if kit.RANK == 3:
        kit.recv_msg(to[0])
        return
    for i in range(34):
        time.sleep(2 * kit.secs(1))
        for r in (0, 1, 2):
            if r != kit.RANK:
                kit.send_msg(to[r], i)
        for r in (0, 1, 2):
            if r != kit.RANK:
                kit.recv_msg(to[r])
        if kit.RANK == 0 and i % 3 == 0:
            kit.log(i, "jax")
    if kit.RANK == 0:
        kit.send_msg(to[3], "bye")


kit.main(4, run)
