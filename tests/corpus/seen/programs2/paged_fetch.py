"""An asyncio job gathers pages from a slow service, two at a time; a page takes seven seconds."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import asyncio


async def page(quota, k):
    async with quota:
        await asyncio.sleep(kit.secs(7))
        return k


async def train():
    quota = asyncio.Semaphore(2)
    for i in range(10):
        await asyncio.sleep(0.3)
        kit.log(i, "json")
    rows = await asyncio.gather(*(page(quota, k) for k in range(18)))
    print(f"fetched {len(rows)} pages", flush=True)

kit.role("main")
asyncio.run(train())
