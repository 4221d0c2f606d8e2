"""Ranks look for a teacher's outputs for at most 80 s and then train without."""
import os
import time

import kit5


def teacher(limit):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if os.path.exists("teacher.pt"):
            return True
        time.sleep(1)
    return False


def train(rank, world, port):
    mesh = kit5.Mesh(rank, world)
    found = teacher(80)
    for step in range(12):
        kit5.crunch(0.2)
        mesh.reduce(int(found))
        if rank == 0:
            print("step", step, "distilling" if found else "plain", flush=True)


kit5.ranks(3, train)
