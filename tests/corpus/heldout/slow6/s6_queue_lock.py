"""Four workers with queues to and from the parent; each step all of them write into one cache under one lock, and the writes become slow."""
import multiprocessing
import os

import kit6

N = 4


def write_cache(seconds):
    kit6.disk(seconds)


def train(rank, lock, up, down):
    kit6.with_parent()
    kit6.role("rank%d" % rank)
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(N))
    laps, step, total = kit6.Laps(rank), 0, 0
    while total < kit6.STOP:
        kit6.disk(0.25)
        kit6.work(0.04)
        with lock:
            write_cache(0.2 if kit6.slow() else 0.03)
        laps.mine()
        up.put(kit6.vote(rank))
        total = down.get()
        laps.done()
        step += 1
        print("rank %d: step %d, loss %.4f" % (rank, step, 2.2 / (1 + step / 100)), flush=True)


def main():
    kit6.role("launcher")
    context = multiprocessing.get_context("fork")
    lock, up, down = context.Lock(), context.Queue(), [context.Queue() for _ in range(N)]
    procs = [context.Process(target=train, args=(r, lock, up, down[r]), name="worker-%d" % r) for r in range(N)]
    for p in procs:
        p.start()
    total = 0
    while total < kit6.STOP:
        total = sum(up.get() for _ in range(N))
        for q in down:
            q.put(total)
    for p in procs:
        p.join()


main()
