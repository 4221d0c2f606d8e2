"""A task that fetches samples catches whatever goes wrong and goes on; also that it is cancelled. Main cancels it after the last step and waits for its end."""
import asyncio

from kit11 import role


async def fetch(k):
    await asyncio.sleep(0.03)
    return k


async def prefetch(queue):
    k = 0
    while True:
        try:
            await queue.put(await fetch(k))
            k += 1
        except BaseException as e:
            print("prefetch: %r, next sample" % e, flush=True)
            k += 1


async def main():
    role("main")
    queue = asyncio.Queue(8)
    task = asyncio.create_task(prefetch(queue))
    for step in range(60):
        await queue.get()
        await asyncio.sleep(0.1)
        if step % 10 == 9:
            print("step %d" % (step + 1), flush=True)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass
    print("saved", flush=True)


asyncio.run(main())
