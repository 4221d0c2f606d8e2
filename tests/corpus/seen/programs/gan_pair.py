"""Generator and discriminator in two ranks over one unix socket; a skipped turn makes both listen."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import time


def run():
    kit.services(1)
    s = kit.Mesh().to[1 - kit.RANK]
    for i in range(1000):
        time.sleep(0.3)
        if kit.RANK == 0:
            if i != 14:            # no fake pictures this turn
                kit.send_msg(s, ("fake", i))
            kit.recv_msg(s)
            kit.step(i)
        else:
            kit.recv_msg(s)
            kit.send_msg(s, ("score", i))


kit.main(2, run)
