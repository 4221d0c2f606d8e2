"""A driver with a labelling tool: waits for its operator (a script) who answers after 70 s by a FIFO."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import time


def operator(path):
    time.sleep(kit.secs(70))
    with open(path, "w") as f:
        f.write("accept\n")


def setup():
    os.mkfifo(kit.tmp("answers"))
    kit.fork_child("operator", operator, kit.tmp("answers"))


def run():
    for i in range(10):
        time.sleep(0.3)
        kit.step(i)
    print("waiting for the review", flush=True)
    with open(kit.tmp("answers")) as f:
        print("review:", f.readline().strip(), flush=True)


kit.main(1, run, setup)
