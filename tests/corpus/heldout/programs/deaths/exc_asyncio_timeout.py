"""An asyncio request that took too long."""
from job import *

import asyncio
async def fetch():
    await asyncio.sleep(60)
train(0, 4)
asyncio.run(asyncio.wait_for(fetch(), 0.3))
