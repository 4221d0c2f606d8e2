"""Three ranks by TCP at rank 0; once rank 1 waits for 18 s for its storage, then all goes on as before."""
import json

import kit6


def train(rank, world, port):
    group, laps, step, total, paused = kit6.Hub(rank, world, port), kit6.Laps(rank), 0, 0, False
    while total < kit6.STOP:
        kit6.disk(0.35)
        if rank == 1 and not paused and kit6.slow(80):
            kit6.disk(18 * kit6.SCALE)
            paused = True
        kit6.work(0.06)
        laps.mine()
        total = group.reduce(kit6.vote(rank, 180))
        laps.done()
        step += 1
        if rank == 0:
            print(json.dumps({"step": step, "loss": round(3.0 / (1 + step / 50), 4)}), flush=True)


kit6.by_launcher(3, train)
