"""One of eight requests of asyncio.gather gets an answer that is no JSON."""
import asyncio
import json

from kitd15 import *


async def reward(step, k):
    await asyncio.sleep(0.1)
    return json.loads('{"score": 0.5}' if (step, k) != (60, 5) else "<html>502 Bad Gateway</html>")["score"]


async def train():
    for step in range(200):
        await asyncio.gather(*(reward(step, k) for k in range(8)))
        told(1, step, 0)


role("main")
asyncio.run(train())
