"""A trainer runs in asyncio, and the client that it uploads with would run a loop of its own."""
import asyncio
import warnings

from kitd19 import *

warnings.simplefilter("ignore")


class Client:
    async def put(self, name):
        await asyncio.sleep(0.1)
        return name

    def upload(self, name):
        return asyncio.run(self.put(name))


async def train():
    for step in range(60):
        await asyncio.sleep(0.1)
        if step % 5 == 0:
            print("step %d loss %.4f" % (step, 2.5 / (1 + 0.1 * step)), flush=True)
        if step == 35:
            Client().upload("step-35")


asyncio.run(train())
