"""Requests to a model's API under a semaphore of four; the quota of the minute is used up, all sleep until the next window."""
import asyncio
import logging
import time

logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
log, begin = logging.getLogger("label"), time.time()


async def ask(limit, number):
    async with limit:
        await asyncio.sleep(0.4)
        if 40 <= number < 44:
            await asyncio.sleep(max(0.0, 68 - (time.time() - begin)))
        log.info("labelled %d", number)


async def main():
    limit = asyncio.Semaphore(4)
    await asyncio.gather(*(ask(limit, n) for n in range(70)))


asyncio.run(main())
