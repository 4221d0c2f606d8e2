"""A trainer with trio: a heartbeat is written every two seconds by a task of the same nursery. The training is done; the nursery ends only when all its tasks have."""
import os
import time

import trio

from kit11 import role


async def heartbeat():
    while True:
        with open("heartbeat", "w") as f:
            f.write("%d %f" % (os.getpid(), time.time()))
        await trio.sleep(2)


async def train():
    async with trio.open_nursery() as nursery:
        nursery.start_soon(heartbeat)
        for step in range(40):
            await trio.sleep(0.15)
            print("epoch 0 step %d loss %.3f" % (step, 3 / (step + 1)), flush=True)
    print("training has ended, exporting", flush=True)


role("main")
trio.run(train)
