"""In an event loop somebody calls the blocking get() of a queue that another coroutine was to fill."""
import asyncio
import queue

import kit4


async def reader(q):
    k = 0
    while True:
        await asyncio.sleep(0.1)
        q.put(k)
        k += 1


async def trainer(q):
    await asyncio.sleep(3)
    for i in range(1000):
        row = q.get()
        kit4.compute(0.02)
        print("trained on %d" % row, flush=True)


async def main():
    q = queue.Queue()
    await asyncio.gather(reader(q), trainer(q))

kit4.role("main")
asyncio.run(main())
