"""A nursery of trio with a heartbeat and an export that nobody ends: after 55 s its scope is cancelled, and the program goes on."""
import time

import trio

from kit11 import role


async def heartbeat():
    while True:
        with open("heartbeat", "w") as f:
            f.write("%f" % time.time())
        await trio.sleep(2)


async def train():
    for step in range(40):
        await trio.sleep(0.15)
        print("step %d" % step, flush=True)
    with trio.move_on_after(55):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(heartbeat)
            nursery.start_soon(trio.sleep_forever)
    print("export was given up, the weights are written as they are", flush=True)


role("main")
trio.run(train)
