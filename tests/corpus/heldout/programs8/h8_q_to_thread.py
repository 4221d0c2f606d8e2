"""A loop awaits a thread of to_thread() that sorts and hashes for 62 s."""
import asyncio

import kit8


async def main():
    for step in range(30):
        await asyncio.sleep(0.2)
        if step == 18:
            await asyncio.to_thread(kit8.compute, 62)
        print("step %d reward %.2f" % (step, step / 30), flush=True)


asyncio.run(main())
