"""Fetchers by asyncio take from a queue and say task_done. One has failed over an item without that; main is in join()."""
import asyncio

import kit7


async def fetch(todo):
    while True:
        n = await todo.get()
        await asyncio.sleep(0.2)
        if n == 70:
            raise ValueError("item 70 has no caption")
        print("fetched", n, flush=True)
        todo.task_done()


async def main():
    todo = asyncio.Queue()
    for n in range(90):
        todo.put_nowait(n)
    fetchers = [asyncio.create_task(fetch(todo), name="fetch-%d" % k) for k in range(3)]
    await todo.join()
    for f in fetchers:
        f.cancel()


kit7.role("main")
asyncio.run(main())
