"""An asyncio program waits at most 68 s for a wish of its user, then it goes on by itself."""
import asyncio

import kit6


async def main():
    kit6.role("main")
    wish = asyncio.Event()
    for n in range(30):
        await asyncio.sleep(0.2)
        print("part", n, flush=True)
        if n == 15:
            try:
                await asyncio.wait_for(wish.wait(), 68)
            except asyncio.TimeoutError:
                print("no wish, going on", flush=True)


asyncio.run(main())
