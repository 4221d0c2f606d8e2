"""Requests of an asyncio client take one of three permits; those that fail do not give theirs back, and are tried again later."""
import asyncio
import random

import kit6


async def request(n, permits):
    while True:
        await permits.acquire()
        try:
            await asyncio.sleep(0.1)
            if random.Random(n).random() < 0.12:
                raise TimeoutError("429 Too Many Requests")
            permits.release()
            return n
        except TimeoutError as error:
            print("request %d: %s, again" % (n, error), flush=True)


async def main():
    kit6.role("main")
    permits, done = asyncio.Semaphore(3), 0
    for answer in asyncio.as_completed([request(n, permits) for n in range(200)]):
        await answer
        done += 1
        print("%d/200" % done, flush=True)


asyncio.run(main())
