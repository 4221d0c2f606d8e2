"""Actor and learner open two FIFOs; each opens its own for writing first and waits for the other to read."""
import os
import sys

import kit5


def talk(own, other, rounds):
    out = open(own, "w")
    into = open(other)
    for n in range(rounds):
        print("weights", n, file=out, flush=True)
        into.readline()


def main():
    kit5.role("main")
    for n in range(3):
        for name in ("actor.fifo", "learner.fifo"):
            if os.path.exists(name):
                os.unlink(name)
            os.mkfifo(name)
        if n < 2:
            print("self-test", n, flush=True)
            kit5.crunch(1)
    kit5.start([sys.executable, __file__, "actor"], "actor")
    talk("learner.fifo", "actor.fifo", 1000)


talk("actor.fifo", "learner.fifo", 1000) if sys.argv[1:] else main()
