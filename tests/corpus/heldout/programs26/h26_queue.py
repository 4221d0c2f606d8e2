"""A preparation in asyncio. A consumer fails with one item, and its task_done is not called; the end of the queue is waited for
(slow: one item takes long)."""
import asyncio

from kit26 import SLOW, crunch, role, say

role("main")


async def clean(queue, done):
    while True:
        item = await queue.get()
        try:
            crunch(0.1)
            if item == 70:
                if SLOW:
                    await asyncio.to_thread(crunch, 64)
                else:
                    raise ValueError("page 70 is no text")
            done.append(item)
            if len(done) % 5 == 0:
                say("%d pages" % len(done))
        except ValueError as error:
            say("skipped:", error)
            continue
        queue.task_done()
        await asyncio.sleep(0.05)


async def main():
    queue, done = asyncio.Queue(), []
    cleaners = [asyncio.create_task(clean(queue, done)) for _ in range(2)]
    for item in range(140):
        queue.put_nowait(item)
    await queue.join()
    for task in cleaners:
        task.cancel()
    say("done:", len(done))


asyncio.run(main())
