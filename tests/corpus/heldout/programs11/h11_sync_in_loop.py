"""A client has a plain face over its coroutines, which hands them to the event loop and waits for the result. A handler that runs in the same loop calls it when
its cache has nothing: the loop waits for itself."""
import asyncio

from kit11 import role


class Registry:
    def __init__(self, loop):
        self.loop, self.cache = loop, {"base": 7}

    async def lookup(self, name):
        await asyncio.sleep(0.1)
        return len(name)

    def version(self, name):
        if name not in self.cache:
            self.cache[name] = asyncio.run_coroutine_threadsafe(self.lookup(name), self.loop).result()
        return self.cache[name]


async def handle(registry, k):
    await asyncio.sleep(0.05)
    return registry.version("base" if k < 60 else "adapter-%d" % k)


async def main():
    role("main")
    registry = Registry(asyncio.get_running_loop())
    for k in range(0, 400, 4):
        versions = await asyncio.gather(*(handle(registry, k + j) for j in range(4)))
        print("INFO: served %d requests, versions %s" % (k + 4, versions), flush=True)


asyncio.run(main())
