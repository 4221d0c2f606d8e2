"""Four ranks in a ring, each with a thread that reads two batches ahead. The disk of rank 3 becomes slow."""
import json

import kit7


def train(rank, world, port):
    def read(n):
        kit7.disk(1.1 if rank == 3 and kit7.slow() else 0.25)
        return n
    batches = kit7.ahead(read)

    def before(step):
        batches.get()
        kit7.work(0.06)
        kit7.disk(0.2)
    kit7.loop(rank, kit7.Ring(rank, world, port), before, lambda s: json.dumps({"step": s, "loss": round(3 / (1 + s / 40), 4)}))


kit7.by_launcher(4, train)
