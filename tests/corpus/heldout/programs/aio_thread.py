"""The loop's thread keeps a lock while it awaits a thread that wants it."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import asyncio
import threading

guard = threading.Lock()


def append(i):
    with guard:
        return i


async def body():
    comm = kit.Star()
    for i in range(1000):
        await asyncio.to_thread(append, i)
        await asyncio.sleep(0.25)
        if i == 15 and kit.rank() == 1:
            with guard:
                await asyncio.to_thread(append, i)
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(3, lambda: asyncio.run(body()))
