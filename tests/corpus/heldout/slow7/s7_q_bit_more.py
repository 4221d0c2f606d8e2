"""Four ranks; rank 3 has a tenth more to do than the others, from the first step on."""
import json

import kit7


def train(rank, world, port):
    def before(step):
        kit7.disk(0.5 if rank < 3 else 0.55)
        kit7.work(0.05)
    kit7.loop(rank, kit7.Butterfly(rank, world, port), before, lambda s: json.dumps({"step": s, "loss": 3 / (1 + s / 40)}), 170)


kit7.by_launcher(4, train)
