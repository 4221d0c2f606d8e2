"""Simulated clients of a federated round meet at an asyncio barrier of six; only five were chosen in the last round."""
import asyncio
import random

import kit8


async def client(number, barrier, round_):
    await asyncio.sleep(0.2 + number * 0.05)
    async with barrier:
        return "client %d round %d" % (number, round_)


async def main():
    random.seed(3)
    for round_ in range(100):
        barrier = asyncio.Barrier(6)
        chosen = random.sample(range(20), 6 if round_ < 9 else 5)
        done = await asyncio.gather(*(client(c, barrier, round_) for c in chosen))
        print("Round %d: aggregated %d updates, acc %.3f" % (round_, len(done), 0.5 + round_ / 300), flush=True)


kit8.role("main")
asyncio.run(main())
