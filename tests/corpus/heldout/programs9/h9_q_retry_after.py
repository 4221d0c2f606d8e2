"""A store asks rank 2 to come again in 62 s, which it does."""
import time

import kit9


def fetch(rank, shard, tries):
    return {"status": 429, "retry_after": 62} if (rank, shard, tries) == (2, 2, 0) else {"status": 200}


def train(rank, n, port):
    hub = kit9.Hub(rank, n, port)
    for s in range(36):
        tries = 0
        while s % 8 == 0:
            answer = fetch(rank, s // 8, tries)
            if answer["status"] == 200:
                break
            print("rank %d: too many requests, waiting %d s" % (rank, answer["retry_after"]), flush=True)
            time.sleep(answer["retry_after"])
            tries += 1
        kit9.crunch(0.2)
        hub.reduce(1.0)
        kit9.step(rank, s, 36)


kit9.ranks(3, train, "ompi")
