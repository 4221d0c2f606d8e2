"""trio: files are decoded one at a time, and the twelfth takes 60 s of a thread; its neighbour waits for the slot."""
import trio

import kit9

slot = trio.CapacityLimiter(1)


def decode(k):
    (kit9.compute if k == 12 else kit9.crunch)(60 if k == 12 else 0.15)
    return k


async def one(k):
    print("decoded", await trio.to_thread.run_sync(decode, k, limiter=slot), flush=True)


async def main():
    for k in range(0, 30, 2):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(one, k)
            nursery.start_soon(one, k + 1)


kit9.role("main")
trio.run(main)
