import asyncio

from kitd9 import *


async def reader(k):
    await asyncio.sleep(0.3 * k)
    if k == 2:
        {"web": 0.7}["mixture_weights"]
    await asyncio.sleep(60)


async def main():
    async with asyncio.TaskGroup() as group:
        for k in range(4):
            group.create_task(reader(k))


batches(5)
asyncio.run(main())
