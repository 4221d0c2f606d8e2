"""Ranks ask a server of keys each 2 s whether rank 2 has made the vocabulary; it computes for 64 s and sets the key."""
import time

import kit6


def train(rank, world, port):
    keys = kit6.Keys()
    for n in range(10):
        kit6.crunch(0.2)
        print("rank", rank, "counts", n, flush=True)
    if rank == 2:
        kit6.compute(64)
        keys.ask("SET", "vocab", "ready")
    while keys.ask("GET", "vocab") == "nil":
        time.sleep(2)
    print("rank", rank, "has the vocabulary", flush=True)


kit6.keys()
kit6.ranks(3, train)
