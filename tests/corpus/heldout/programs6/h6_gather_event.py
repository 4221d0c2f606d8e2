"""Five downloads are gathered. The one that renews the token fails, says so to a log and never sets the event that another one waits for."""
import asyncio
import logging

import kit6

logging.basicConfig(filename="fetch.log")


async def renew(fresh):
    try:
        await asyncio.sleep(1)
        raise KeyError("expires_in")
    except KeyError:
        logging.exception("renewal")


async def shard(n, fresh):
    for part in range(8):
        await asyncio.sleep(0.2)
        if n == 3 and part == 6:
            await fresh.wait()
    print("shard %d is here" % n, flush=True)


async def main():
    kit6.role("main")
    fresh = asyncio.Event()
    asyncio.create_task(renew(fresh))
    await asyncio.gather(*[shard(n, fresh) for n in range(5)])
    print("all are here")


asyncio.run(main())
