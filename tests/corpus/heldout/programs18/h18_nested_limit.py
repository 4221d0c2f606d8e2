"""A trainer in asyncio reads shards, at most four things at once: who reads a shard takes one of four places of a
semaphore, and each of its parts takes one as well. Up to three shards at once that goes well; of four none can read a
part.

slow: never more than three, and a part takes 48 s in a thread."""
import asyncio

from kit18 import SLOW, STEPS, busy, role, told

STALLED = []


async def read_part(limit, shard, part):
    async with limit:
        await asyncio.sleep(0.02)
        if SLOW and shard == 40 and not STALLED:
            STALLED.append(part)
            await asyncio.get_running_loop().run_in_executor(None, busy, 48)


async def read_shard(limit, shard):
    async with limit:
        await asyncio.gather(*(read_part(limit, shard, part) for part in range(3)))


async def train():
    limit = asyncio.Semaphore(4)
    for step in range(STEPS):
        ahead = 3 if SLOW or step < 40 else 4
        await asyncio.gather(*(read_shard(limit, step + k) for k in range(ahead if step % 2 else 1)))
        await asyncio.sleep(0.15)
        told(step)


role("main")
asyncio.run(train())
