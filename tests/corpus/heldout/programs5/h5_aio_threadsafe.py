"""A callback of the loop asks the loop itself for a result by run_coroutine_threadsafe and waits for it."""
import asyncio

import kit5


async def lookup(key):
    await asyncio.sleep(0.05)
    return len(key)


class Cache:
    def __init__(self, loop):
        self.loop = loop

    def get(self, key):
        """For threads without a loop."""
        return asyncio.run_coroutine_threadsafe(lookup(key), self.loop).result()


async def main():
    kit5.role("main")
    loop = asyncio.get_running_loop()
    cache = Cache(loop)
    for n in range(100):
        if n < 15:
            size = await asyncio.to_thread(cache.get, "key%d" % n)
        else:
            size = cache.get("key%d" % n)
        await asyncio.sleep(0.2)
        print("request", n, size, flush=True)


asyncio.run(main())
