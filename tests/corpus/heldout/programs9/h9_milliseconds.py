"""A store of objects asks rank 3 to come again in 30000, which are milliseconds."""
import json
import time

import kit9


def fetch(rank, shard):
    answer = {"status": 429, "retry_after_ms": 30000} if (rank, shard) == (3, 2) else {"status": 200}
    return json.loads(json.dumps(answer))


def shard(rank, number):
    while True:
        answer = fetch(rank, number)
        if answer["status"] == 200:
            return number
        time.sleep(answer["retry_after_ms"])


def train(rank, n, port):
    hub = kit9.Hub(rank, n, port)
    for s in range(60):
        if s % 8 == 0:
            shard(rank, s // 8)
        kit9.crunch(0.2)
        hub.reduce(1.0)
        kit9.step(rank, s, 60)


kit9.ranks(4, train, "ompi")
