"""A crawler of pages under a semaphore of four: a page is fetched together with its links, still within the semaphore."""
import asyncio
import logging

import kit8

logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
log = logging.getLogger("crawl")


async def fetch(limit, name, depth):
    async with limit:
        await asyncio.sleep(0.2)
        log.info("fetched %s", name)
        if depth:
            return 1 + sum(await asyncio.gather(*(fetch(limit, "%s/%d" % (name, k), depth - 1) for k in range(2))))
        return 1


async def main():
    limit = asyncio.Semaphore(4)
    for site in range(12):
        await fetch(limit, "site%d" % site, 1)
    await asyncio.gather(*(fetch(limit, "big%d" % k, 3) for k in range(5)))


kit8.role("main")
asyncio.run(main())
