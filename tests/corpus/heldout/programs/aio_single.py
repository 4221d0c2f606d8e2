"""One process: gather over a consumer whose producer task has failed."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import asyncio


async def produce(q, n):
    for i in range(n):
        await asyncio.sleep(0.3)
        await q.put(i)
    raise RuntimeError("end of shard")


async def consume(q):
    while True:
        i = await q.get()
        kit.step(i)
        q.task_done()


async def main():
    q = asyncio.Queue()
    await asyncio.gather(produce(q, 14), consume(q), return_exceptions=True)


kit.role("main")
kit.services(1)
asyncio.run(main())
