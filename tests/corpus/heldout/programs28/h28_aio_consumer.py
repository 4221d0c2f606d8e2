"""Samples go through an asyncio queue of 16. The task that trains on them has ended with an error that nobody awaits, and the
producer stands in put(). The error is kept in the task.

slow: the consumer awaits an evaluation service for 65 s."""
import asyncio

from kit28 import SLOW, STALL, STEPS, compute, role, tell


async def consume(queue):
    step = 0
    while True:
        sample = await queue.get()
        compute()
        tell(step)
        if step == STALL:
            if SLOW:
                await asyncio.sleep(65)
            else:
                sample["label"]
        step += 1
        queue.task_done()
        if SLOW and step == STEPS:
            return


async def train():
    role("main")
    queue = asyncio.Queue(16)
    task = asyncio.create_task(consume(queue))
    for k in range(STEPS):
        await queue.put({"x": k})
    await queue.join()
    return task


asyncio.run(train())
