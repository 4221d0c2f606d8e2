"""Rollouts of an agent in asyncio, at most four requests at once by a semaphore. A rollout keeps its place while
it calls a tool, and the tool asks the model for a summary, for which it wants a place too. Four long rollouts
begin at the same time."""
import asyncio

from kit15 import role, told


class Model:
    def __init__(self):
        self.places = asyncio.Semaphore(4)

    async def generate(self, long):
        async with self.places:
            await asyncio.sleep(0.05)
            if long:
                await self.tool()
        return 1.0

    async def tool(self):
        await asyncio.sleep(0.04)
        async with self.places:
            await asyncio.sleep(0.03)


async def train():
    model = Model()
    for step in range(200):
        prompts = [step % 9 == k and step < 45 or step == 45 for k in range(8)]
        await asyncio.gather(*(model.generate(long) for long in prompts))
        told(step)


role("main")
asyncio.run(train())
