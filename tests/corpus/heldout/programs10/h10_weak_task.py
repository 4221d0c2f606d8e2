"""Nobody keeps the task that fills a queue; it waits for a future that only itself knows, so the collector takes both away."""
import asyncio
import gc

import kit10


async def pause(k):
    """Until somebody says so; after the third batch only this task knows whom to ask."""
    if k < 3:
        await asyncio.sleep(0.3)
    else:
        await asyncio.get_running_loop().create_future()


async def fill(queue):
    for k in range(100):
        await pause(k)
        await queue.put(k)


async def main():
    queue = asyncio.Queue(4)
    asyncio.create_task(fill(queue))
    while True:
        k = await queue.get()
        print("batch", k, flush=True)
        gc.collect()
        asyncio.get_running_loop().call_later(1, gc.collect)


kit10.role("main")
asyncio.run(main())
