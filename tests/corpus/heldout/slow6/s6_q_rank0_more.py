"""Four ranks with queues to and from the parent; rank 0 also writes the metrics and has five percent more to do, all the time."""
import multiprocessing
import os

import kit6

N = 4


def train(rank, up, down):
    kit6.with_parent()
    kit6.role("rank%d" % rank)
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(N))
    laps, step, total = kit6.Laps(rank), 0, 0
    while total < kit6.STOP:
        kit6.disk(0.4)
        kit6.work(0.125 if rank == 0 else 0.1)
        laps.mine()
        up.put(kit6.vote(rank, 170))
        total = down.get()
        laps.done()
        step += 1
        if rank == 0:
            print("step: %d loss: %.4f" % (step, 2.2 / (1 + step / 100)), flush=True)


kit6.role("launcher")
context = multiprocessing.get_context("fork")
ups, downs = context.Queue(), [context.Queue() for _ in range(N)]
procs = [context.Process(target=train, args=(r, ups, downs[r]), name="worker-%d" % r) for r in range(N)]
for p in procs:
    p.start()
result = 0
while result < kit6.STOP:
    result = sum(ups.get() for _ in range(N))
    for q in downs:
        q.put(result)
for p in procs:
    p.join()
