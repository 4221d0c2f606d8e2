"""Ranks put a file each into a folder and go on when there are exactly as many as ranks; four are left of an older, larger run."""
import os
import time

import kit5


def train(rank, world, port):
    open("ready/%d" % rank, "w").close()
    while len(os.listdir("ready")) != world:
        time.sleep(0.2)
    print("rank %d trains" % rank, flush=True)


os.makedirs("ready", exist_ok=True)
if "RANK" not in os.environ:
    for r in range(4, 8):
        open("ready/%d" % r, "w").close()
    print("starting 4 ranks", flush=True)
kit5.ranks(4, train)
