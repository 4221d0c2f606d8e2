"""Rank 2 feeds itself inside a task group; the augmenting task leaves at a bad record and the queue fills."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import asyncio


async def read(out):
    k = 0
    while True:
        await asyncio.sleep(0.05)
        await out.put(k)
        k += 1


async def augment(src, out):
    while True:
        k = await src.get()
        if kit.RANK == 2 and k == 33:
            return                   # "end of shard"
        await out.put(k)


async def steps(src, group):
    for i in range(1000):
        for _ in range(2):
            await src.get()
        await asyncio.sleep(0.5)
        group.barrier()
        if kit.RANK == 1:
            kit.log(i, "info")


async def run():
    raw, ready = asyncio.Queue(8), asyncio.Queue(8)
    async with asyncio.TaskGroup() as tg:
        tg.create_task(read(raw))
        tg.create_task(augment(raw, ready))
        tg.create_task(steps(ready, kit.Mesh()))


kit.main(4, lambda: asyncio.run(run()))
