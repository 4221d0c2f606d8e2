"""trio: decoding runs in a thread with a limit of two at a time. A thread that meets a nested archive asks the loop to decode it, in
another thread, by the same limit. Two of them at once, and none is left."""
import trio

import kit9

slots = trio.CapacityLimiter(2)


def decode(name, depth):
    kit9.crunch(0.15)
    if depth:
        return trio.from_thread.run(decode_async, name + "/inner", depth - 1)
    return name


async def decode_async(name, depth):
    return await trio.to_thread.run_sync(decode, name, depth, limiter=slots)


async def one(name, depth):
    print("decoded", await decode_async(name, depth), flush=True)


async def main():
    for k in range(20):
        async with trio.open_nursery() as nursery:
            for part in range(2):
                nursery.start_soon(one, "archive-%d.%d" % (k, part), int(k == 11))


kit9.role("main")
trio.run(main)
