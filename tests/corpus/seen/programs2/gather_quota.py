"""Tiles are fetched by an asyncio job, at most four at a time; a skipped tile keeps its place."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import asyncio


async def fetch(quota, k):
    await quota.acquire()
    await asyncio.sleep(0.2)
    if k % 31 == 30:             # empty tile
        return None
    quota.release()
    return k


async def train():
    quota = asyncio.Semaphore(4)
    for i in range(500):
        await asyncio.gather(*(fetch(quota, i * 6 + j) for j in range(6)))
        kit.log(i, "json")

kit.role("main")
asyncio.run(train())
