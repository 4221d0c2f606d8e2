"""Two tasks of a group failed."""
from job import *

import asyncio
async def shard(i):
    await asyncio.sleep(0.01)
    raise OSError(5, "Input/output error", f"/data/shard-{i:05d}.tar")
async def main():
    async with asyncio.TaskGroup() as tg:
        tg.create_task(shard(3))
        tg.create_task(shard(7))
train(0, 4)
asyncio.run(main())
