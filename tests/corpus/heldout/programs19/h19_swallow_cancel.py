"""Tasks of asyncio fetch samples into a queue; each tries again after whatever goes wrong, and takes a cancellation for
that too. At the end main cancels them, once, and waits for them. The queue is full, and nobody reads it any more: they
stand in its put()."""
import asyncio

from kit19 import crunch, role, told


async def fetch(k):
    await asyncio.sleep(0.02)
    return k


async def feed(samples, first):
    k = first
    while True:
        try:
            await samples.put(await fetch(k))
            k += 3
        except (OSError, asyncio.TimeoutError, asyncio.CancelledError):
            await asyncio.sleep(0.1)


async def train():
    role("main")
    samples = asyncio.Queue(8)
    feeders = [asyncio.create_task(feed(samples, k)) for k in range(3)]
    for step in range(45):
        for _ in range(4):
            await samples.get()
        crunch(0.1)
        await asyncio.sleep(0.1)
        told(step)
    for feeder in feeders:
        feeder.cancel()
    await asyncio.gather(*feeders, return_exceptions=True)
    print("finished", flush=True)


asyncio.run(train())
