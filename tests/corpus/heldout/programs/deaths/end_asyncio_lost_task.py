"""A task fails, its error is told at the end as never retrieved; the real end is another."""
from job import *

import asyncio
async def ping():
    raise ConnectionResetError(104, "Connection reset by peer")
async def main():
    t = asyncio.create_task(ping())
    await asyncio.sleep(0.2)
    del t
    raise RuntimeError("reward model returned 0 scores")
train(0, 20)
asyncio.run(main())
