from kitd7 import *
import asyncio


async def job(n):
    await asyncio.sleep(0.1)
    if n == 2:
        raise KeyError("attention_mask")
    await asyncio.sleep(5)


async def main():
    async with asyncio.TaskGroup() as group:
        for n in range(4):
            group.create_task(job(n))

train(4)
asyncio.run(main())
