"""Two coroutines, two asyncio locks."""
import asyncio

import kit4


async def sync(name, first, second, n):
    for i in range(n):
        async with first:
            await asyncio.sleep(0.2 if i < 12 else 0.5)
            if i >= 12:
                async with second:
                    await asyncio.sleep(0.01)
        print(name, i, flush=True)
        await asyncio.sleep(0)


async def main():
    weights, stats = asyncio.Lock(), asyncio.Lock()
    await asyncio.gather(sync("weights", weights, stats, 100), sync("stats", stats, weights, 100))

kit4.role("main")
asyncio.run(main())
