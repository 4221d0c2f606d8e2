"""Two ranks that talk by a tree of TCP. Rank 1 fetches its validation data by asyncio; beside the fetches a task that
writes a sign of life is in the same group of tasks. The group ends when all of its tasks have ended, and this one never
does.

slow: the sign of life is ended, and one fetch takes 48 s."""
import asyncio
import time

from kit23 import SLOW, STEPS, Line, Tree, main, told


async def alive():
    while True:
        with open("alive", "w") as f:
            f.write("%d\n" % time.time())
        await asyncio.sleep(2)


async def fetch(k):
    await asyncio.sleep(48 if SLOW and k == 3 else 0.3)
    return k


async def fetch_all():
    async with asyncio.TaskGroup() as group:
        beat = group.create_task(alive())
        fetches = [group.create_task(fetch(k)) for k in range(6)]
        if SLOW:
            await asyncio.wait(fetches)
            beat.cancel()
    return sum(f.result() for f in fetches)


def validation():
    return asyncio.run(fetch_all())


def body(rank, world, port):
    tree, line = Tree(rank, world, port), Line(rank)
    for step in range(STEPS):
        line.apply(tree.mean("gradient %d" % step, line.gradient()))
        if rank == 1 and step == 32:
            validation()
        if rank == 0:
            told(step, line.loss)


main(2, body)
