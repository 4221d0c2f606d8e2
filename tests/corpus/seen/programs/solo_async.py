"""One process, no ranks: asyncio pipeline; the sink waits on an asyncio.Queue that its source has left."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import asyncio
import signal

kit.role("main")


async def source(q):
    for i in range(15):
        await asyncio.sleep(0.25)
        await q.put(i)


async def sink(q):
    while True:
        i = await q.get()
        kit.step(i)


async def run():
    q = asyncio.Queue(2)
    await asyncio.gather(source(q), sink(q))


asyncio.run(run())
